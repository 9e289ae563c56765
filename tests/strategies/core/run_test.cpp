// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;

INSTANTIATE_TEST_SUITE_P(Every, WithReplicas, testing::Values(1, 2, 3, 4, 8));

TEST_P(WithReplicas, Case22_EachReplicaReturnsItsNumber) {
  MirroredStrategy strategy = mirrored(replicas());
  std::vector<int> expected;
  for (int i = 0; i < replicas(); ++i) expected.push_back(i);
  EXPECT_EQ(strategy.local_results(strategy.run(id)), expected);
}

TEST(Run, Case23_StructuresAreOfPerReplica) {
  MirroredStrategy strategy = mirrored(2);
  const auto result = strategy.run([] { return std::tuple(id(), std::map<std::string, int>{{"a", 10 * id()}}); });
  EXPECT_EQ(std::get<0>(result[1]), 1);
  EXPECT_EQ(std::get<1>(result[0]).at("a"), 0);
  EXPECT_EQ(std::get<1>(result[1]).at("a"), 10);
}

TEST(Run, Case25_DifferentStructuresAreRefused) {
  MirroredStrategy strategy = mirrored(2);
  const auto lists = [] { return std::vector<std::tuple<int>>(static_cast<std::size_t>(1 + id())); };
  expect_error(ErrorCode::mismatch, "only replica 1 has [1][0]", [&] { strategy.run(lists); });
  const auto maps = [] { return std::map<std::string, int>{{id() == 0 ? "a" : "b", 1}}; };
  expect_error(ErrorCode::mismatch, "where replica 0 has [a], replica 1 has [b]", [&] { strategy.run(maps); });
}

TEST(Run, WhatIsNoTensorIsReturnedAsItIs) {
  MirroredStrategy strategy = mirrored(2);
  const auto texts = strategy.run([] { return std::tuple(id(), std::string(3, 'a')); });
  EXPECT_EQ(texts[1], std::tuple(1, std::string("aaa")));
  EXPECT_EQ(strategy.run([] { return std::vector<bool>(3, true); })[1].size(), 3U);
}

TEST(Run, Case28_NestedArgumentsAreTakenApart) {
  MirroredStrategy strategy = mirrored(2);
  const std::vector nested{std::tuple(per_replica(strategy, std::vector{1, 2}), 5)};
  const auto seen = strategy.run([](const std::vector<std::tuple<int, int>>& mine) { return mine.front(); }, nested);
  EXPECT_EQ(seen[0], std::tuple(1, 5));
  EXPECT_EQ(seen[1], std::tuple(2, 5));
}

TEST(Run, ArgumentsThatAreNotDistributedComeAsTheyAre) {
  MirroredStrategy strategy = mirrored(2);
  auto parts = per_replica(strategy, std::vector{std::vector<int>{}, std::vector<int>{}});
  const std::string text = "as it is";
  strategy.run(
      [&](std::vector<int>& mine, const std::string& given) {
        EXPECT_EQ(&given, &text);
        mine.push_back(id());
      },
      parts, text);
  EXPECT_THAT(parts[1], ElementsAre(1));
}

TEST(Run, Case31_AMergeCallMeetsAllReplicasOnce) {
  MirroredStrategy strategy = mirrored(3);
  std::mutex mutex;
  std::vector<std::string> log;
  const auto say = [&](const std::string& text) {
    const std::scoped_lock lock(mutex);
    log.push_back(text);
  };
  strategy.run([&] {
    say("before");
    get_replica_context()->merge_call([&](Strategy&) { say("merge"); });
    say("after");
  });
  EXPECT_THAT(log, ElementsAre("before", "before", "before", "merge", "after", "after", "after"));
}

TEST(Run, Case32_AMergeCallGetsTheValuesOfAll) {
  MirroredStrategy strategy = mirrored(3);
  const auto results = strategy.run([] {
    return get_replica_context()->merge_call(
        [](Strategy&, const PerReplica<int>& ids) { return ids[0] + ids[1] + ids[2]; }, std::tuple(id()));
  });
  EXPECT_THAT(results.values(), ElementsAre(3, 3, 3));
}

TEST(Run, AMergeCallGivesEachReplicaItsPart) {
  MirroredStrategy strategy = mirrored(3);
  const auto results = strategy.run([] {
    return get_replica_context()->merge_call(
        [](Strategy& given, const PerReplica<int>& ids) {
          return PerReplica<int>(given.layout(), {ids[2], ids[0], ids[1]});
        },
        std::tuple(id()));
  });
  EXPECT_THAT(results.values(), ElementsAre(2, 0, 1));
}

TEST(Run, Case34_MergeCallsAreCounted) {
  MirroredStrategy strategy = mirrored(2);
  std::vector<int> order;
  strategy.run([&] {
    get_replica_context()->merge_call([&](Strategy&) { order.push_back(1); });
    get_replica_context()->merge_call([&](Strategy&) { order.push_back(2); });
  });
  EXPECT_THAT(order, ElementsAre(1, 2));
  const auto unequal = [] {
    if (id() == 0) get_replica_context()->merge_call([](Strategy&) {});
  };
  expect_error(ErrorCode::mismatch, "the end of the function", [&] { strategy.run(unequal); });
  EXPECT_EQ(strategy.run(id)[1], 1) << "works again";
}

TEST(Run, Case35_DifferentFunctionsAreRefusedWithTheirPlaces) {
  MirroredStrategy strategy = mirrored(2);
  const auto different = [] {
    if (id() == 0)
      get_replica_context()->merge_call([](Strategy&) {});
    else
      get_replica_context()->merge_call([](Strategy&) {});
  };
  expect_error(ErrorCode::mismatch, "run_test.cpp", [&] { strategy.run(different); });
}

TEST(Run, Case37_AMergeCallMayBeInALoop) {
  MirroredStrategy strategy = mirrored(2);
  int calls = 0;
  strategy.run([&] {
    for (int i = 0; i < 5; ++i) get_replica_context()->merge_call([&](Strategy&) { ++calls; });
  });
  EXPECT_EQ(calls, 5);
}

TEST_P(WithReplicas, AReplicaThatThrowsEndsTheRunOfAll) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto last_throws = [&] {
    if (id() == replicas() - 1) throw std::out_of_range("number of a replica");
    const int all = get_replica_context()->all_reduce(ReduceOp::sum, 1);
    ADD_FAILURE() << "reduced without the last replica: " << all;
  };
  try {
    strategy.run(last_throws);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "number of a replica");
  }
  EXPECT_EQ(strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 1); })[0], replicas());
}

TEST_P(WithReplicas, AMergeFunctionThatThrowsThrowsTheSameEverywhere) {
  MirroredStrategy strategy = mirrored(replicas());
  std::atomic<int> threw = 0;
  const auto merge = [&](auto function) {
    try {
      std::ignore = get_replica_context()->merge_call(function, std::tuple(std::string(100, 'a')));
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "in the merge");
      ++threw;
    }
    return get_replica_context()->all_reduce(ReduceOp::sum, 1);
  };
  const auto of_nothing = [&] {
    return merge([](Strategy&, const PerReplica<std::string>&) -> bool { throw std::out_of_range("in the merge"); });
  };
  EXPECT_EQ(strategy.run(of_nothing)[0], replicas()) << "who catches it goes on";
  EXPECT_EQ(threw, replicas());
  const auto throws = [] {
    get_replica_context()->merge_call([](Strategy&) { throw std::out_of_range("in the merge"); });
  };
  EXPECT_THROW(strategy.run(throws), std::out_of_range);
  EXPECT_EQ(strategy.run(id)[0], 0) << "works again";
}

TEST(Run, Case29_AVariableStaysOne) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<double> v(3.0);
  const auto returned = strategy.run([&] { return v; });
  for (const auto& each : returned.values()) EXPECT_EQ(each, v);
}

TEST(Run, Case26_ArgumentsComeOneByOneOrAsAList) {
  MirroredStrategy strategy = mirrored(2);
  EXPECT_EQ(strategy.run([](int x) { return x; }, 3)[1], 3);
  EXPECT_EQ(strategy.run([](const std::vector<int>& xs) { return xs.front(); }, std::vector{3})[1], 3);
}

TEST(Run, TheDefaultStrategyCallsTheFunction) {
  const auto here = std::this_thread::get_id();
  const auto result =
      DefaultStrategy::instance().run([&](int x) { return x + (std::this_thread::get_id() == here); }, 4);
  EXPECT_EQ(result.get(), 5);
}

}  // namespace
}  // namespace chorus::test
