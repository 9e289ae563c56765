// SPDX-License-Identifier: Apache-2.0
// What the phases of an algorithm take together.
#include "phases.hpp"

#include <gtest/gtest.h>

namespace chorus {
namespace {

constexpr Problem on_two_nodes{.call = {Collective::alltoall, DataType::uint8, ReduceOp::sum, 0, 65536},
                               .ranks = 16,
                               .nodes = 2,
                               .largest_node = 8,
                               .smallest_node = 8,
                               .slot_bytes = 131072};

TEST(TrafficOfPhases, HasWhatARankDoesAloneInsideItsNode) {
  constexpr std::size_t block = 65536;
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    const Traffic once = traffic_of(on_two_nodes, {{Phase::Where::inside, collective, block}});
    EXPECT_EQ(once.alone, 7.5 * block) << "what the others give, or get, and the copy of its own, within the caches";
    const Traffic twice = traffic_of(on_two_nodes, {{Phase::Where::inside, collective, block, 2}});
    EXPECT_EQ(twice.alone, 2 * once.alone);
  }
}

}  // namespace
}  // namespace chorus
