// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

INSTANTIATE_TEST_SUITE_P(Every, WithReplicas, testing::Values(1, 2, 3, 4, 8));
INSTANTIATE_TEST_SUITE_P(Every, WithSeveralReplicas, testing::Values(2, 3, 4, 8));

TEST_P(WithReplicas, Case22_EachReplicaReturnsItsNumber) {
  MirroredStrategy strategy = mirrored(replicas());
  std::vector<int> expected;
  for (int i = 0; i < replicas(); ++i) expected.push_back(i);
  EXPECT_EQ(strategy.local_results(strategy.run(id)), expected);
}

TEST_P(WithReplicas, Case23_StructuresAreOfPerReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto result = strategy.run([] { return std::tuple(id(), std::map<std::string, int>{{"a", 10 * id()}}); });
  ASSERT_EQ(result.values().size(), static_cast<std::size_t>(replicas()));
  for (int i = 0; i < replicas(); ++i) {
    const auto& [number, map] = result[static_cast<std::size_t>(i)];
    EXPECT_EQ(number, i);
    EXPECT_EQ(map, (std::map<std::string, int>{{"a", 10 * i}}));
  }
}

TEST_P(WithSeveralReplicas, Case25_DifferentStructuresAreRefused) {
  MirroredStrategy strategy = mirrored(replicas());
  const std::string number = std::to_string(last());
  const auto lists = [] { return std::vector<std::tuple<int>>(id() == last() ? 2U : 1U); };
  expect_error(ErrorCode::mismatch, "only replica " + number + " has [1][0]", [&] { strategy.run(lists); });
  const auto maps = [] { return std::map<std::string, int>{{id() == last() ? "b" : "a", 1}}; };
  expect_error(ErrorCode::mismatch, "where replica 0 has [a], replica " + number + " has [b]",
               [&] { strategy.run(maps); });
  const auto texts = [] { return std::vector<std::string>(id() == last() ? 2U : 1U); };
  expect_error(ErrorCode::mismatch, "only replica " + number + " has [1]", [&] { strategy.run(texts); });
  const auto named = [] { return std::pair(1, std::map<int, std::string>{{id() == last() ? 8 : 7, "text"}}); };
  expect_error(ErrorCode::mismatch, "where replica 0 has [1][7], replica " + number + " has [1][8]",
               [&] { strategy.run(named); });
}

TEST(Run, WhatIsNoTensorIsReturnedAsItIs) {
  MirroredStrategy strategy = mirrored(2);
  const auto texts = strategy.run([] { return std::tuple(id(), std::string(3, 'a')); });
  EXPECT_EQ(texts[1], std::tuple(1, std::string("aaa")));
  EXPECT_EQ(strategy.run([] { return std::vector<bool>(3, true); })[1].size(), 3U);
}

TEST_P(WithReplicas, Case28_NestedArgumentsAreTakenApart) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto numbers = per_replica(strategy, list_of(replicas(), [](int i) { return i + 1; }));
  const std::vector nested{std::tuple(numbers, 5)};
  const auto seen = strategy.run([](const std::vector<std::tuple<int, int>>& mine) { return mine.front(); }, nested);
  EXPECT_EQ(strategy.local_results(seen), list_of(replicas(), [](int i) { return std::tuple(i + 1, 5); }));
}

TEST_P(WithReplicas, ArgumentsThatAreNotDistributedComeAsTheyAre) {
  MirroredStrategy strategy = mirrored(replicas());
  auto parts = per_replica(strategy, std::vector(static_cast<std::size_t>(replicas()), std::vector<int>{}));
  const std::string text = "as it is";
  strategy.run(
      [&](std::vector<int>& mine, const std::string& given) {
        EXPECT_EQ(&given, &text);
        mine.push_back(id());
      },
      parts, text);
  EXPECT_EQ(strategy.local_results(parts), list_of(replicas(), [](int i) { return std::vector{i}; }));
}

TEST_P(WithReplicas, Case31_AMergeCallMeetsAllReplicasOnce) {
  MirroredStrategy strategy = mirrored(replicas());
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
  std::vector<std::string> expected(static_cast<std::size_t>(replicas()), "before");
  expected.emplace_back("merge");
  expected.insert(expected.end(), static_cast<std::size_t>(replicas()), "after");
  EXPECT_EQ(log, expected);
}

TEST_P(WithReplicas, Case32_AMergeCallGetsTheValuesOfAll) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto results = strategy.run([] {
    const auto sum_up = [](Strategy&, const PerReplica<int>& ids) {
      int sum = 0;
      for (const int each : ids.values()) sum += each;
      return sum;
    };
    return get_replica_context()->merge_call(sum_up, std::tuple(id()));
  });
  EXPECT_THAT(results.values(), Each(sum_of_ids()));
}

TEST_P(WithReplicas, AMergeCallGivesEachReplicaItsPart) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto results = strategy.run([] {
    const auto pass_on = [](Strategy& given, const PerReplica<int>& ids) {
      std::vector<int> passed(ids.values().begin(), ids.values().end());
      std::rotate(passed.begin(), passed.begin() + 1, passed.end());
      return PerReplica<int>(given.layout(), std::move(passed));
    };
    return get_replica_context()->merge_call(pass_on, std::tuple(id()));
  });
  EXPECT_EQ(strategy.local_results(results), list_of(replicas(), [](int i) { return (i + 1) % replicas(); }));
}

TEST_P(WithReplicas, AMergeCallGivesEachReplicaItsPartsWithinStructures) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto pass_on = [](Strategy& /*given*/, const PerReplica<int>& ids) {
    return std::tuple(ids, std::vector{std::pair(std::string("a"), ids)}, std::map<int, PerReplica<int>>{{7, ids}}, 5);
  };
  using Mine = std::tuple<int, std::vector<std::pair<std::string, int>>, std::map<int, int>, int>;
  const PerReplica<Mine> results =
      strategy.run([&] { return get_replica_context()->merge_call(pass_on, std::tuple(id())); });
  const auto part = [](int i) { return Mine(i, {{"a", i}}, {{7, i}}, 5); };
  EXPECT_EQ(strategy.local_results(results), list_of(replicas(), part));
}

TEST_P(WithReplicas, Case34_MergeCallsAreCounted) {
  MirroredStrategy strategy = mirrored(replicas());
  std::vector<int> order;
  strategy.run([&] {
    get_replica_context()->merge_call([&](Strategy&) { order.push_back(1); });
    get_replica_context()->merge_call([&](Strategy&) { order.push_back(2); });
  });
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_P(WithSeveralReplicas, Case34_AReplicaWithoutAMergeCallIsAnError) {
  MirroredStrategy strategy = mirrored(replicas());
  for (const int other : {0, last()}) {  // calls, or does not, alone
    for (const bool calls : {false, true}) {
      const auto unequal = [&] {
        if ((id() == other) == calls) get_replica_context()->merge_call([](Strategy&) {});
      };
      expect_error(ErrorCode::mismatch, "the end of the function", [&] { strategy.run(unequal); });
      EXPECT_EQ(strategy.run(id)[1], 1) << "works again";
    }
  }
}

TEST_P(WithSeveralReplicas, Case35_DifferentFunctionsAreRefusedWithTheirPlaces) {
  MirroredStrategy strategy = mirrored(replicas());
  for (const int other : {0, last()}) {
    const auto different = [&] {
      if (id() == other)
        get_replica_context()->merge_call([](Strategy&) {});
      else
        get_replica_context()->merge_call([](Strategy&) {});
    };
    expect_error(ErrorCode::mismatch, "run_test.cpp", [&] { strategy.run(different); });
  }
}

TEST_P(WithSeveralReplicas, Case35_SoAreThoseOnOneLineWithTheirColumns) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto nothing = [](Strategy&) {};
  const auto different = [&] {
    ReplicaContext& replica = *get_replica_context();
    return id() == last() ? replica.merge_call(nothing) : replica.merge_call(nothing);
  };
  expect_error(ErrorCode::mismatch, "run_test.cpp:" + std::to_string(__LINE__ - 2) + ":",
               [&] { strategy.run(different); });
}

TEST_P(WithReplicas, Case37_AMergeCallMayBeInALoop) {
  MirroredStrategy strategy = mirrored(replicas());
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

TEST_P(WithReplicas, Case29_AVariableStaysOne) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> v(3.0);
  const auto returned = strategy.run([&] { return v; });
  for (const auto& each : returned.values()) EXPECT_EQ(each, v);
}

TEST_P(WithReplicas, Case26_ArgumentsComeOneByOneOrAsAList) {
  MirroredStrategy strategy = mirrored(replicas());
  EXPECT_THAT(strategy.run([](int x) { return x; }, 3).values(), Each(3));
  EXPECT_THAT(strategy.run([](const std::vector<int>& xs) { return xs.front(); }, std::vector{3}).values(), Each(3));
}

TEST(Run, TheDefaultStrategyCallsTheFunction) {
  const auto here = std::this_thread::get_id();
  const auto result =
      DefaultStrategy::instance().run([&](int x) { return x + (std::this_thread::get_id() == here); }, 4);
  EXPECT_EQ(result.get(), 5);
}

}  // namespace
}  // namespace chorus::test
