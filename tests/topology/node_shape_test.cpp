// SPDX-License-Identifier: Apache-2.0
#include "topology/node_shape.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace chorus {
namespace {

/// Of ranks on these cores of `machine`, one PU each.
NodeShape shape_on(const std::string& machine, const std::vector<int>& cores) {
  const Topology topology = Topology::described_by(machine + " pu:1");
  std::vector<Binding> bindings;
  for (const int core : cores) {
    PuSet pus;
    pus.set(static_cast<std::size_t>(core));
    bindings.push_back(topology.place(pus));
  }
  return NodeShape::of(bindings);
}

std::vector<int> numbers_to(int end) {
  std::vector<int> numbers;
  for (int number = 0; number < end; ++number) numbers.push_back(number);
  return numbers;
}

std::vector<int> radices(const NodeShape& shape) {
  const auto first = shape.radices().of.begin();
  return {first, first + shape.radices().levels};
}

std::vector<int> ranks(const NodeShape& shape, int count) {
  std::vector<int> by_position;
  for (int position = 0; position < count; ++position) {
    by_position.push_back(shape.rank_at(position));
    EXPECT_EQ(shape.position(by_position.back()), position);
  }
  return by_position;
}

TEST(NodeShape, HasTheLevelsOfTheMachineFromTheInsideOut) {
  EXPECT_EQ(radices(shape_on("pack:2 numa:4 core:8", numbers_to(64))), (std::vector<int>{8, 4, 2}));
  EXPECT_EQ(radices(shape_on("pack:2 l3:12 core:8", numbers_to(192))), (std::vector<int>{8, 12, 2}));
  EXPECT_EQ(radices(shape_on("pack:2 numa:2 l3:2 core:2", numbers_to(16))), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(radices(shape_on("pack:1 numa:2 core:3", numbers_to(6))), (std::vector<int>{3, 2}));
}

TEST(NodeShape, IsNotDividedWhereAllRanksAreTogetherOrApart) {
  EXPECT_EQ(shape_on("pack:1 l3:1 core:8", numbers_to(8)).radices().levels, 0);
  EXPECT_EQ(shape_on("pack:2 core:8", numbers_to(8)).radices().levels, 0);
  EXPECT_EQ(shape_on("pack:2 core:8", {0, 8}).radices().levels, 0);
  EXPECT_EQ(NodeShape::of({}).radices().levels, 0);
}

TEST(NodeShape, LeavesOutWhatDividesUnevenly) {
  EXPECT_EQ(shape_on("pack:2 core:8", {0, 1, 2, 8, 9}).radices().levels, 0);
  // Four domains of two, three of them in the first package.
  EXPECT_EQ(radices(shape_on("pack:2 numa:4 core:2", {0, 1, 2, 3, 4, 5, 8, 9})), (std::vector<int>{2, 4}));
  // Two packages of four, in domains of three and one.
  EXPECT_EQ(radices(shape_on("pack:2 numa:2 core:4", {0, 1, 2, 4, 8, 9, 10, 12})), (std::vector<int>{4, 2}));
}

TEST(NodeShape, NumbersRanksByTheirPlaceHoweverTheyAreDealt) {
  EXPECT_EQ(ranks(shape_on("pack:2 core:2", {0, 2, 1, 3}), 4), (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(ranks(shape_on("pack:2 core:2", {2, 0, 1, 3}), 4), (std::vector<int>{0, 3, 1, 2}));
  EXPECT_EQ(ranks(shape_on("pack:2 numa:2 core:2", {0, 4, 2, 6, 1, 5, 3, 7}), 8),
            (std::vector<int>{0, 4, 2, 6, 1, 5, 3, 7}));
}

TEST(NodeShape, IsPretendedForAsManyRanksOnly) {
  const std::vector<int> wanted = {2, 3};
  EXPECT_EQ(radices(NodeShape::pretended(wanted, 6)), wanted);
  EXPECT_EQ(NodeShape::pretended(wanted, 5).radices().levels, 0);
  EXPECT_EQ(NodeShape::pretended({}, 1).radices().levels, 0);
}

}  // namespace
}  // namespace chorus
