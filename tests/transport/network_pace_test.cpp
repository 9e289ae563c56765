// SPDX-License-Identifier: Apache-2.0
#include "transport/network_pace.hpp"

#include "worlds/worlds.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

namespace chorus::test {
namespace {

/// What every rank gets.
template <class Value>
std::vector<Value> on_ranks(const std::vector<int>& nodes, Task<Value> (*measure)(Transport&)) {
  std::vector<Value> values(nodes.size());
  on_every_rank({.kind = WorldKind::threads, .ranks = static_cast<int>(nodes.size()), .nodes = nodes},
                [&](Transport& transport) -> Task<> {
                  values[static_cast<std::size_t>(transport.rank())] = co_await measure(transport);
                });
  return values;
}

TEST(NetworkPace, IsTheSameOnEveryRankOfNodesOfAnyShape) {
  for (const std::vector<int>& nodes :
       {std::vector<int>{0, 0, 1, 1}, {0, 1, 0, 1, 2}, {0, 1, 2}, {0, 0, 0, 1}, {0, 1, 1, 2, 0, 0}}) {
    const auto paces = on_ranks(nodes, &measure_network);
    for (const NetworkPace& pace : paces) {
      EXPECT_EQ(pace, paces[0]);
      EXPECT_TRUE(pace.known());
      EXPECT_GT(pace.megabytes_per_second, 0);
      EXPECT_GT(pace.by_all_latency_us, 0);
      EXPECT_GT(pace.by_all_megabytes_per_second, 0);
    }
  }
}

/// Whether those that send together are taken for as many as they are.
TEST(NetworkPace, CountsTheRanksOfANodeThatExchangeWithOthers) {
  EXPECT_EQ(senders_across_nodes({1, 1}), 1);
  EXPECT_EQ(senders_across_nodes({1, 2, 1}), 1) << "the second rank of the second node has nobody to exchange with";
  EXPECT_EQ(senders_across_nodes({8, 3, 2}), 3);
  EXPECT_EQ(senders_across_nodes({4, 4}), 4);
  for (const NetworkPace& pace : on_ranks({0, 1, 1, 2}, &measure_network)) {
    EXPECT_EQ(pace.by_all_megabytes_per_second, pace.megabytes_per_second);
    EXPECT_EQ(pace.by_all_latency_us, pace.latency_us);
  }
}

TEST(NetworkPace, OfFewRanksIsNotThatOfMany) {
  EXPECT_FALSE(NetworkPace().covers({1, 1}));
  const NetworkPace pace = on_ranks({0, 0, 1, 1}, &measure_network).front();
  for (const std::vector<int>& sizes : {std::vector<int>{1, 1}, {2, 2}, {4, 4}, {2, 2, 2, 2}, {9, 1}}) {
    EXPECT_TRUE(pace.covers(sizes));
  }
  EXPECT_FALSE(pace.covers({5, 5})) << "more ranks than twice as many";
  EXPECT_FALSE(pace.covers({1, 1, 1, 1, 1})) << "more nodes than twice as many";
}

TEST(NetworkPace, TakesAGainOfShortWaysForOneOnlyWhereItIsClear) {
  EXPECT_EQ(to_next_gain(10, 12), 1);
  EXPECT_EQ(to_next_gain(12, 10), 1);
  EXPECT_EQ(to_next_gain(10, 30), 3);
  EXPECT_EQ(to_next_gain(0, 0), 1) << "where there is no such ring";
}

TEST(NetworkPace, HasNoTimesOfRingsThatAreNotThere) {
  const std::vector<double> inside = on_ranks<double>({0, 1, 2}, [](Transport& transport) {
    return time_exchanges(transport, {.rings = Rings::inside_nodes, .bytes = 8, .repetitions = 2});
  });
  EXPECT_EQ(inside, std::vector<double>(3, 0));
  const std::vector<double> across = on_ranks<double>({0, 0, 0}, [](Transport& transport) {
    return time_exchanges(transport, {.rings = Rings::of_first_ranks, .bytes = 8, .repetitions = 2});
  });
  EXPECT_EQ(across, std::vector<double>(3, 0));
}

TEST(NetworkPace, LetsRanksOfOneNodeExchangeToo) {
  for (const std::vector<int>& nodes : {std::vector<int>{0, 0, 0}, {0, 0, 1}}) {
    const std::vector<double> inside = on_ranks<double>(nodes, [](Transport& transport) {
      return time_exchanges(transport, {.rings = Rings::inside_nodes, .bytes = 100, .repetitions = 2});
    });
    EXPECT_GT(inside[0], 0);
    EXPECT_EQ(std::set<double>(inside.begin(), inside.end()).size(), 1U) << "all agree";
  }
}

TEST(NetworkPace, TimesSeveralMessagesAtATimeInRingsOfAnyLength) {
  for (const std::vector<int>& nodes : {std::vector<int>{0, 1}, {0, 1, 2}, {0, 0, 1, 2, 3, 4}}) {
    const std::vector<double> three = on_ranks<double>(nodes, [](Transport& transport) {
      return time_exchanges(
          transport, {.rings = Rings::of_first_ranks, .bytes = 8, .repetitions = 2, .with = Exchanges::With::three});
    });
    EXPECT_GT(three[0], 0);
    EXPECT_EQ(std::set<double>(three.begin(), three.end()).size(), 1U) << "all agree";
  }
}

}  // namespace
}  // namespace chorus::test
