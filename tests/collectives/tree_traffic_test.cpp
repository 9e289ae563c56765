// SPDX-License-Identifier: Apache-2.0
// What trees among all ranks send inside nodes and between them.
#include "algorithm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace chorus {
namespace {

/// On 16 ranks, of which four and four that follow one another are on a node.
struct Expected {
  std::string_view name;
  double inside;
  double between;
  double together;
};

constexpr Expected all_expected[] = {
    {.name = "binomial", .inside = 2, .between = 2, .together = 0},
    {.name = "knomial", .inside = 3, .between = 3, .together = 2},
    {.name = "bine", .inside = 1, .between = 3, .together = 0},  // of the steps 1, 3, ... the second may leave the node
};

Traffic traffic_of(Collective collective, std::string_view name, bool in_order) {
  const Problem problem{.call = {collective, DataType::uint8, ReduceOp::sum, 0, 100},
                        .ranks = 16,
                        .nodes = 4,
                        .largest_node = 4,
                        .smallest_node = 4,
                        .in_order = in_order};
  return (**std::ranges::find(algorithms(collective), name, &Algorithm::name)).traffic(problem);
}

TEST(TreeTraffic, IsInsideNodesWhereStepsAreShort) {
  for (const auto& [name, inside, between, together] : all_expected) {
    const Traffic traffic = traffic_of(Collective::bcast, name, true);
    EXPECT_EQ(traffic.inside.messages, inside) << name;
    EXPECT_EQ(traffic.inside.bytes, inside * 100) << name;
    EXPECT_EQ(traffic.messages.messages, between) << name;
    EXPECT_EQ(traffic.messages.bytes, between * 100) << name;
    EXPECT_EQ(traffic.inside_together.messages, together) << name;
    EXPECT_EQ(traffic.together.messages, together) << name;
    EXPECT_EQ(traffic.lanes, 1) << name << ": one rank of a node sends to others";
  }
}

TEST(TreeTraffic, OfReductionsIsSentOnceAndReducedForEachChild) {
  for (const auto& [name, inside, between, together] : all_expected) {
    const Traffic traffic = traffic_of(Collective::reduce, name, true);
    EXPECT_EQ(traffic.inside.messages, inside) << name;
    EXPECT_EQ(traffic.inside.reduced, inside * 100) << name;
    EXPECT_EQ(traffic.inside.bytes, inside * 100) << name << ": taken in";
    EXPECT_EQ(traffic.messages.reduced, between * 100) << name;
    EXPECT_EQ(traffic.messages.bytes, 100) << name;
    EXPECT_EQ(traffic.waited.bytes, (between - 1) * 100) << name << ": the others taken in";
    EXPECT_EQ(traffic.together.bytes, 0) << name << ": each rank sends to its parent alone";
  }
}

TEST(TreeTraffic, IsBetweenNodesWhereRanksDoNotFollowOneAnother) {
  for (const auto& [name, inside, between, together] : all_expected) {
    const Traffic traffic = traffic_of(Collective::bcast, name, false);
    EXPECT_EQ(traffic.inside.messages, 0) << name;
    EXPECT_EQ(traffic.messages.messages, inside + between) << name;
    EXPECT_EQ(traffic.lanes, 0) << name;
  }
}

}  // namespace
}  // namespace chorus
