// SPDX-License-Identifier: Apache-2.0
// What an OverlappedAllReduce sends while replicas do other things: on every worker in the same order, whichever of its
// replicas comes last.
#include "multi_worker/multi_worker.hpp"

#include <chorus/strategies/indexed_slices.hpp>
#include <chorus/strategies/overlapped_all_reduce.hpp>
#include <chorus/strategies/variable.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;

/// On every other worker the first replica comes late and finds that the others have come; on the rest it is the first
/// to come.
void come_by_turns() {
  const bool first = get_replica_context()->local_replica() == 0;
  if (first == (job_rank() % 2 == 0)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST_P(MultiWorker, AnExactSumComesAfterThePacksUnderWay) {
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  for (int round = 0; round < 5; ++round) {
    several.run([&] {
      std::pair both(std::vector<float>(10, 1), std::vector<std::int32_t>(10, 2));
      OverlappedAllReduce sums(ReduceOp::sum, both);
      come_by_turns();
      sums.ready(both.second);
      sums.ready(both.first);
      sums.wait();
      EXPECT_THAT(both.first, Each(static_cast<float>(replicas())));
      EXPECT_THAT(both.second, Each(2 * replicas()));
    });
  }
}

/// Every replica does `meanwhile` when the last pack of two is under way.
void expect_sums(MultiWorkerMirroredStrategy& several, const std::function<void()>& meanwhile) {
  const double replicas = several.num_replicas_in_sync();
  for (int round = 0; round < 3; ++round) {
    several.run([&] {
      std::pair both(std::vector<double>(10, 1), std::vector<double>(10, 2));
      OverlappedAllReduce sums(ReduceOp::sum, both, {.bytes_per_pack = 80});
      come_by_turns();
      sums.ready(both.second);
      meanwhile();
      sums.ready(both.first);
      sums.wait();
      EXPECT_THAT(both.first, Each(replicas));
      EXPECT_THAT(both.second, Each(2 * replicas));
    });
  }
}

TEST_P(MultiWorker, WhatReplicasReduceMeanwhileComesAfterThePacksUnderWay) {
  MultiWorkerMirroredStrategy several = strategy();
  expect_sums(several, [&] { EXPECT_EQ(get_replica_context()->all_reduce(ReduceOp::max, id()), replicas() - 1); });
  expect_sums(several, [&] {
    const IndexedSlices<std::vector<float>> mine({1}, {id()}, {static_cast<std::size_t>(replicas())});
    EXPECT_EQ(get_replica_context()->all_reduce(ReduceOp::sum, mine).values,
              std::vector<float>(static_cast<std::size_t>(replicas()), 1));
  });
  expect_sums(several, [&] {
    EXPECT_THAT(get_replica_context()->all_gather(std::vector<int>{7}, 0),
                std::vector<int>(static_cast<std::size_t>(replicas()), 7));
  });
  expect_sums(several, [&] {
    const int sum = get_replica_context()->merge_call(
        [](Strategy& strategy, const PerReplica<int>& one) { return strategy.reduce(ReduceOp::sum, one); },
        std::tuple(1));
    EXPECT_EQ(sum, replicas());
  });
  expect_sums(several, [&] {
    std::vector<float> other(10, 3);
    OverlappedAllReduce sums(ReduceOp::sum, other);
    sums.ready(other);
    sums.wait();
    EXPECT_THAT(other, Each(static_cast<float>(3 * replicas())));
  });
}

TEST_P(MultiWorker, WhatReplicasWriteMeanwhileComesAfterThePacksUnderWay) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  for (const auto aggregation : {VariableAggregation::sum, VariableAggregation::only_first_replica}) {
    const Variable<double> v(0, {.name = "v", .aggregation = aggregation});
    const double expected = aggregation == VariableAggregation::sum ? sum_of_ids() : 0;
    expect_sums(several, [&] {
      v.assign(id());
      EXPECT_EQ(v.value(), expected);
    });
  }
  const Variable<double> updated(0, {.name = "updated"});
  expect_sums(several, [&] { several.extended().update(updated, [](double& component) { component += 1; }); });
  EXPECT_EQ(updated.value(), 3);
  expect_sums(several, [] {
    const Variable<double> made(5, {.name = "made"});
    EXPECT_EQ(made.value(), 5);
  });
}

TEST_P(MultiWorker, TwoOverlappedAllReducesGoInOneOrder) {
  MultiWorkerMirroredStrategy several = strategy();
  for (int round = 0; round < 3; ++round) {
    several.run([&] {
      std::pair floats(std::vector<float>(10, 1), std::vector<float>(10, 2));
      std::pair integers(std::vector<int>(10, 3), std::vector<int>(10, 4));
      OverlappedAllReduce first(ReduceOp::sum, floats, {.bytes_per_pack = 40});
      OverlappedAllReduce second(ReduceOp::max, integers, {.bytes_per_pack = 40});
      come_by_turns();
      first.ready(floats.second);
      second.ready(integers.second);
      first.ready(floats.first);
      second.wait();
      first.wait();
      EXPECT_THAT(floats.first, Each(static_cast<float>(replicas())));
      EXPECT_THAT(floats.second, Each(static_cast<float>(2 * replicas())));
      EXPECT_THAT(integers.first, Each(3));
      EXPECT_THAT(integers.second, Each(4));
    });
  }
}

}  // namespace
}  // namespace chorus::test
