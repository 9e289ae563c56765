// SPDX-License-Identifier: Apache-2.0
// When bcast goes down a tree of nodes, and what the model expects of that.
#include "choose.hpp"
#include "link_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace chorus {
namespace {

/// A bcast on 16 nodes of 8 ranks.
Problem on_nodes(std::size_t bytes, const LinkModel& links) {
  return {.call = {Collective::bcast, DataType::uint8, ReduceOp::sum, 0, bytes},
          .ranks = 128,
          .nodes = 16,
          .largest_node = 8,
          .smallest_node = 8,
          .slot_bytes = 65536,
          .links = &links};
}

Traffic traffic_of(const Problem& problem) {
  const auto all = algorithms(Collective::bcast);
  return (**std::ranges::find(all, std::string_view("tree_of_nodes"), &Algorithm::name)).traffic(problem);
}

TEST(TreeOfNodes, HasMoreSegmentsOfLongerData) {
  const LinkModel links;
  const auto messages = [&](std::size_t bytes) { return traffic_of(on_nodes(bytes, links)).messages.messages; };
  EXPECT_EQ(messages(8), 3) << "one segment, which comes in before it goes on to two nodes";
  EXPECT_GT(messages(1 << 20), 3);
  EXPECT_GT(messages(16 << 20), messages(1 << 20));
}

TEST(TreeOfNodes, HasFewSegmentsWhereAMessageTakesLong) {
  LinkModel slow_to_begin;
  slow_to_begin.network.latency_us = 1e6;
  EXPECT_EQ(traffic_of(on_nodes(1 << 20, slow_to_begin)).messages.messages, 16 * 2) << "of 64 KiB, along a chain";
}

TEST(TreeOfNodes, HidesNothingWhileTheFirstSegmentIsAwaited) {
  LinkModel links;
  links.shared.megabytes_per_second = 1000;  // so that ranks of a node are busier than the network
  const Problem problem = on_nodes(4 << 20, links);
  const Traffic traffic = traffic_of(problem);
  const double children = 1 / traffic.to_next;
  const double segments = traffic.messages.messages / (1 + children);
  const Traffic passed{
      .shared = {}, .messages = traffic.messages, .together = traffic.together, .lanes = 1, .to_next = traffic.to_next};
  const Traffic awaited{.shared = {}, .messages = traffic.waited, .lanes = 1, .to_next = traffic.to_next};
  Traffic inside = traffic;
  inside.messages = inside.waited = inside.together = {};
  EXPECT_NEAR(links.microseconds(traffic, problem),
              links.microseconds(inside, problem) + links.microseconds(awaited, problem) +
                  links.microseconds(passed, problem) / segments,
              1e-6);
}

TEST(TreeOfNodes, IsTakenForLongDataThatTakesLongInsideNodesToo) {
  LinkModel links;
  links.shared.megabytes_per_second = links.network.megabytes_per_second;
  EXPECT_EQ(fastest(on_nodes(1 << 20, links), links).name, "tree_of_nodes");
  EXPECT_NE(fastest(on_nodes(8, links), links).name, "tree_of_nodes");
}

TEST(TreeOfNodes, IsATreeInsideNodesThatShareNoMemory) {
  const LinkModel links;
  Problem problem = on_nodes(1 << 20, links);
  EXPECT_EQ(traffic_of(problem).inside.messages, 0);
  problem.slot_bytes = 0;
  const Traffic traffic = traffic_of(problem);
  EXPECT_GT(traffic.inside.messages, traffic.messages.messages);
  EXPECT_EQ(traffic.shared.bytes, 0);
}

}  // namespace
}  // namespace chorus
