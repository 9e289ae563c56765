// SPDX-License-Identifier: Apache-2.0
#include "carry_out.hpp"
#include "transport/simulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace chorus::test {
namespace {

constexpr int ranks = 1024;
constexpr int ranks_a_node = 16;

const Algorithm& allreduce_named(std::string_view name) {
  const auto all = algorithms(Collective::allreduce);
  return **std::ranges::find_if(all, [&](const Algorithm* algorithm) { return algorithm->name == name; });
}

/// Sums `count` numbers over all ranks: the rank's own number plus the number of the element.
SimulatedWorld::Report allreduce(const Algorithm& algorithm, std::size_t count) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.push_back(rank / ranks_a_node);
  SimulatedWorld world({.ranks = ranks, .seed = 7, .nodes = nodes, .slot_bytes = 1024});
  const Call call{Collective::allreduce, DataType::int32, ReduceOp::sum, 0, count};
  auto report = world.run([&](Transport& transport) -> Task<> {
    std::vector<std::int32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = transport.rank() + static_cast<std::int32_t>(i);
    std::byte* const bytes = std::as_writable_bytes(std::span(values)).data();
    co_await carry_out(algorithm, transport, {call, bytes, bytes});
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t sum = ranks * (ranks - 1) / 2 + ranks * static_cast<std::int32_t>(i);
      if (values[i] != sum) throw std::runtime_error("a wrong sum");
    }
  });
  report.check();
  return report;
}

TEST(SimulatedScale, Ring1024Ranks) {
  const auto report = allreduce(allreduce_named("ring"), 2 * ranks);
  EXPECT_EQ(report.busiest.messages, 2 * (ranks - 1));
  EXPECT_EQ(report.busiest.bytes, 2 * (ranks - 1) * 2 * sizeof(std::int32_t));
}

TEST(SimulatedScale, RecursiveDoubling1024Ranks) {
  const auto report = allreduce(allreduce_named("recursive_doubling"), 16);
  EXPECT_EQ(report.busiest.messages, 10);
  EXPECT_EQ(report.busiest.bytes, 10 * 16 * sizeof(std::int32_t));
}

}  // namespace
}  // namespace chorus::test
