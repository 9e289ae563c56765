// SPDX-License-Identifier: Apache-2.0
// MultiWorkerMirroredStrategy on every rank of a job, with 1 and 2 replicas on each.
#include "multi_worker/multi_worker.hpp"
#include "core/replicas.hpp"

#include <chorus/float16.hpp>
#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/overlapped_all_reduce.hpp>
#include <chorus/strategies/variable.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

INSTANTIATE_TEST_SUITE_P(ReplicasOfEachWorker, MultiWorker, testing::Values(1, 2));

TEST_P(MultiWorker, Case22_ReplicasAreNumberedAcrossTheWorkers) {
  MultiWorkerMirroredStrategy several = strategy();
  EXPECT_EQ(several.num_replicas_in_sync(), replicas());
  ASSERT_NE(several.cluster_resolver(), nullptr);
  const auto ids = several.run(id);
  for (int i = 0; i < GetParam(); ++i) EXPECT_EQ(ids[static_cast<std::size_t>(i)], job_rank() * GetParam() + i);
  EXPECT_EQ(several.extended().should_checkpoint(), job_rank() == 0);
}

TEST_P(MultiWorker, Case67_ReductionsAreOverAllWorkers) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto ids = several.run(id);
  EXPECT_EQ(several.reduce(ReduceOp::sum, ids), sum_of_ids());
  EXPECT_EQ(several.reduce(ReduceOp::max, ids), replicas() - 1);
  const auto inside = several.run([](int mine) { return get_replica_context()->all_reduce(ReduceOp::sum, mine); }, ids);
  EXPECT_THAT(inside.values(), Each(sum_of_ids()));
  const auto averages =
      several.run([] { return get_replica_context()->all_reduce(ReduceOp::average, std::vector<double>(3000, id())); });
  EXPECT_THAT(averages[0], Each(static_cast<double>(sum_of_ids()) / replicas()));
}

TEST_P(MultiWorker, OverlappedAllReduceIsOverAllWorkers) {
  for (const Compression compression : {Compression::none, Compression::bfloat16}) {
    MultiWorkerMirroredStrategy several = strategy({.bytes_per_pack = 400, .compression = compression});
    const auto values = several.run([] {
      std::vector<std::vector<float>> value(6, std::vector<float>(100));
      OverlappedAllReduce reduced(ReduceOp::sum, value);
      for (std::size_t layer = value.size(); layer-- > 0;) {
        value[layer].assign(100, static_cast<float>(id()));
        if (static_cast<int>(layer) % 3 != id() % 3) reduced.ready(value[layer]);
      }
      reduced.wait();
      return value;
    });
    for (const auto& value : values.values()) EXPECT_THAT(value, Each(Each(static_cast<float>(sum_of_ids()))));
  }
}

/// `value` as it comes out of its compression.
template <class Wire, class T>
T rounded(T value) {
  return static_cast<float>(Wire(static_cast<float>(value)));
}

/// What a compressed reduction gives: the replicas of each worker are added up exactly enough, then rounded, then added
/// up in the order of the workers, then rounded.
template <class Wire, class T>
std::vector<T> reduced_and_rounded(ReduceOp op, int workers, int replicas, const std::function<T(int, std::size_t)>& of,
                                   std::size_t count) {
  std::vector<T> results;
  const auto join = [op](T left, T right) { return op == ReduceOp::max ? std::max(left, right) : left + right; };
  for (std::size_t i = 0; i < count; ++i) {
    T total{};
    for (int worker = 0; worker < workers; ++worker) {
      T local = of(worker * replicas, i);
      for (int r = 1; r < replicas; ++r) local = join(local, of(worker * replicas + r, i));
      if (op == ReduceOp::average) local /= static_cast<T>(replicas);
      const T sent = rounded<Wire>(local);
      total = worker == 0 ? sent : join(total, sent);
    }
    if (op == ReduceOp::average) total /= static_cast<T>(workers);
    results.push_back(rounded<Wire>(total));
  }
  return results;
}

template <class Wire, class T>
void expect_compressed(MultiWorkerMirroredStrategy& several, Compression compression) {
  const auto value_of = [](int replica, std::size_t i) {
    return static_cast<T>(1.0 / (replica + 1) + std::sin(static_cast<double>(i)));
  };
  const ReplicaLayout layout = several.layout();
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average, ReduceOp::max}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{1001}}) {
      const auto make = [&] {
        std::vector<T> value(count);
        for (std::size_t i = 0; i < count; ++i) value[i] = value_of(id(), i);
        return value;
      };
      const std::vector<T> expected =
          reduced_and_rounded<Wire, T>(op, layout.workers, layout.local_replicas, value_of, count);
      const auto inside =
          several.run([&] { return get_replica_context()->all_reduce(op, make(), {.compression = compression}); });
      for (const auto& value : inside.values()) EXPECT_EQ(value, expected);
      const auto mirrored_sums = several.extended().reduce_to(op, several.run(make), {.compression = compression});
      for (const auto& value : mirrored_sums.values()) EXPECT_EQ(value, expected);
    }
  }
}

TEST_P(MultiWorker, CompressedNumbersAreRoundedTwice) {
  if (job_size() == 1) GTEST_SKIP() << "nothing is sent";
  MultiWorkerMirroredStrategy several = strategy();
  expect_compressed<bfloat16_t, float>(several, Compression::bfloat16);
  expect_compressed<bfloat16_t, double>(several, Compression::bfloat16);
  expect_compressed<float16_t, float>(several, Compression::float16);
  expect_compressed<float16_t, double>(several, Compression::float16);
}

TEST_P(MultiWorker, CompressedAveragesAreDividedBeforeTheyAreRounded) {
  MultiWorkerMirroredStrategy several = strategy({.compression = Compression::float16});
  const auto large = several.run([] { return std::vector<float>(3, 40000); });  // two of them are too much for 16 bits
  EXPECT_THAT(several.reduce(ReduceOp::average, large), Each(40000));
  const auto inside =
      several.run([](const auto& mine) { return get_replica_context()->all_reduce(ReduceOp::average, mine); }, large);
  EXPECT_THAT(inside[0], Each(40000));
}

TEST_P(MultiWorker, VariablesAreNotCompressed) {
  MultiWorkerMirroredStrategy several = strategy({.compression = Compression::bfloat16});
  const auto scope = several.scope();
  Sum count;
  const Variable<double> v(0.0, {.aggregation = VariableAggregation::mean});
  several.run([&] {
    count.update_state(1001.0);
    v.assign(1001.0);
  });
  EXPECT_EQ(count.result(), 1001.0 * replicas());
  EXPECT_THAT(v.components(), Each(1001.0));
}

TEST_P(MultiWorker, OtherNumbersAreNotCompressed) {
  MultiWorkerMirroredStrategy several = strategy({.compression = Compression::bfloat16});
  const auto sums = several.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 1'000'001); });
  EXPECT_THAT(sums.values(), Each(1'000'001 * replicas()));
}

TEST_P(MultiWorker, CompressedSumsAreNotReproducible) {
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  const auto ones = several.run([] { return 1.0; });
  if (replicas() == 1) GTEST_SKIP() << "nothing is reduced";
  expect_error(ErrorCode::invalid_argument, "contradict", [&] {
    std::ignore = several.extended().reduce_to(ReduceOp::sum, ones, {.compression = Compression::float16});
  });
  EXPECT_EQ(several.reduce(ReduceOp::sum, ones), replicas());
}

TEST_P(MultiWorker, Case43_AxesOfDifferentLengths) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto rows = several.run([] { return std::vector<float>(static_cast<std::size_t>(id()), 1.0F); });
  EXPECT_EQ(several.reduce(ReduceOp::sum, rows, 0), static_cast<float>(sum_of_ids()));
}

TEST_P(MultiWorker, Case62_GathersAreInTheOrderOfTheReplicas) {
  MultiWorkerMirroredStrategy several = strategy();
  std::vector<int> expected;
  for (int i = 0; i < replicas(); ++i) expected.insert(expected.end(), static_cast<std::size_t>(i + 1), i);
  const auto mine = several.run([] { return std::vector<int>(static_cast<std::size_t>(id() + 1), id()); });
  EXPECT_EQ(several.gather(mine, 0), expected);
  const auto inside =
      several.run([](const std::vector<int>& value) { return get_replica_context()->all_gather(value, 0); }, mine);
  for (const auto& each : inside.values()) EXPECT_EQ(each, expected);
}

TEST(MultiWorkerDevices, OneThatIsNotThereIsRefused) {
  MultiWorkerMirroredStrategy::Setup setup;
  setup.devices = {Device(Device::Kind::cpu, 4095, {4095})};
  expect_error(ErrorCode::invalid_argument, "/cpu:4095",
               [&] { MultiWorkerMirroredStrategy(Communicator::world(), std::move(setup)); });
}

TEST_P(MultiWorker, Case59_ShapesThatDoNotGoTogetherAreRefusedOnEveryWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const auto unequal = several.run([] { return std::vector<float>(static_cast<std::size_t>(1 + job_rank())); });
  EXPECT_THROW(std::ignore = several.reduce(ReduceOp::sum, unequal), Error);
}

TEST_P(MultiWorker, StepsWithoutRowsOnAnyWorkerAreLeftOut) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto replicas_here = static_cast<std::size_t>(GetParam());
  const auto batches = range(8).batch(2).with_batch_size(std::nullopt);  // two slices with rows of each, the rest empty
  for (const UnevenPolicy policy : {UnevenPolicy::pad, UnevenPolicy::error}) {
    if (policy == UnevenPolicy::error && replicas_here > 1) continue;
    std::size_t rows = 0;
    for (const auto& step :
         several.distribute_dataset(batches, {.shard_policy = AutoShardPolicy::off, .uneven = policy})) {
      EXPECT_GT(step.global_size(), 0U);
      for (const std::size_t own : step.local_sizes()) rows += own;
    }
    EXPECT_EQ(rows, 8U) << "all of them";
  }
}

TEST_P(MultiWorker, AnArgumentOfAnotherNumberOfReplicasEndsTheCallOnEveryWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  const bool last = job_rank() == job_size() - 1;
  const int local = GetParam() + (last ? 1 : 0);
  const PerReplica<int> values({.workers = job_size(), .worker = job_rank(), .local_replicas = local},
                               std::vector<int>(static_cast<std::size_t>(local)));
  const ErrorCode code = last ? ErrorCode::invalid_argument : ErrorCode::revoked;
  expect_error(code, std::to_string(GetParam() + 1) + " components of " + std::to_string(GetParam()),
               [&] { several.run([](int) {}, values); });
  expect_works(several);
}

TEST_P(MultiWorker, Case115_VariablesBeginAsOnTheChief) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<int> v(job_rank() + 7);
  EXPECT_THAT(v.components(), Each(7));
}

TEST_P(MultiWorker, Case116_WhatReplicasAssignIsAggregatedOverAllWorkers) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  for (const auto& [aggregation, expected] :
       {std::pair(VariableAggregation::sum, static_cast<double>(sum_of_ids())),
        std::pair(VariableAggregation::mean, static_cast<double>(sum_of_ids()) / replicas()),
        std::pair(VariableAggregation::only_first_replica, 0.0)}) {
    const Variable<double> v(5, {.aggregation = aggregation});
    several.run([&] { v.assign(id()); });
    EXPECT_THAT(v.components(), Each(expected));
  }
}

TEST_P(MultiWorker, Case134_WorkersMakeTheSameVariables) {
  MultiWorkerMirroredStrategy several = strategy();
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const auto scope = several.scope();
  const std::string name = job_rank() == 1 ? "other" : "v";
  expect_error(ErrorCode::mismatch, "worker 1 makes \"other\"", [&] { Variable<int>(0, {.name = name}); });
}

TEST_P(MultiWorker, Case202_AReplicaThatThrowsEndsTheRunOnEveryWorker) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto last_throws = [&] {
    if (id() == replicas() - 1) throw std::out_of_range("number of a replica");
    std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1);
  };
  try {
    several.run(last_throws);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("number of a replica"));
  }
  const auto ones = per_replica(several, std::vector<int>(static_cast<std::size_t>(GetParam()), 1));
  EXPECT_EQ(several.reduce(ReduceOp::sum, ones), replicas()) << "works again, without a run before";
  EXPECT_EQ(several.reduce(ReduceOp::sum, several.run([] { return 1; })), replicas());
}

TEST_P(MultiWorker, Case206_ReproducibleSumsHaveTheBitsOfOneSum) {
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponents(-30, 30);
  std::vector<float> all(static_cast<std::size_t>(replicas()));
  for (float& each : all) each = std::ldexp(exponents(random), static_cast<int>(exponents(random)));
  const auto mine = several.run([&] { return all[static_cast<std::size_t>(id())]; });
  MirroredStrategy alone = mirrored(replicas(), nullptr, {.reproducible = true});
  const auto here =
      alone.run([&] { return get_replica_context()->all_reduce(ReduceOp::sum, all[static_cast<std::size_t>(id())]); });
  const auto there =
      several.run([](float value) { return get_replica_context()->all_reduce(ReduceOp::sum, value); }, mine);
  EXPECT_EQ(there[0], here[0]);
  EXPECT_EQ(several.reduce(ReduceOp::sum, mine), here[0]);
}

TEST_P(MultiWorker, Case206_ReproducibleSumsOverAnAxisHaveTheBitsOfOneSum) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponents(-20, 20);
  std::vector<float> all(static_cast<std::size_t>(replicas()) * 100);
  for (float& each : all) each = std::ldexp(exponents(random), static_cast<int>(exponents(random)));
  MultiWorkerMirroredStrategy several = strategy({.reproducible = true});
  const auto mine = several.run([&] { return std::vector<float>(&all[id() * 100UL], &all[id() * 100UL] + 100); });
  MirroredStrategy alone = mirrored(1, nullptr, {.reproducible = true});
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
    EXPECT_EQ(several.reduce(op, mine, 0), alone.reduce(op, per_replica<std::vector<float>>(alone, {all}), 0));
  }
}

TEST_P(MultiWorker, Case137_AnOptimizerAddsTheGradientsOfAllReplicas) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  const Variable<double> v(0);
  Sgd optimizer{std::tuple{v}, SgdOptions{.learning_rate = 1}};
  several.run([&] { optimizer.apply_gradients({static_cast<double>(id() + 1)}); });
  EXPECT_THAT(v.components(), Each(-(sum_of_ids() + replicas())));
}

TEST_P(MultiWorker, MetricsAreOfAllReplicas) {
  MultiWorkerMirroredStrategy several = strategy();
  const auto scope = several.scope();
  Mean mean;
  several.run([&] { mean.update_state(static_cast<double>(id())); });
  EXPECT_EQ(mean.result(), static_cast<double>(sum_of_ids()) / replicas());
  mean.update_state(100.0);
  EXPECT_DOUBLE_EQ(mean.result(), (sum_of_ids() + 100.0) / (replicas() + 1)) << "counts once from outside";
  mean.reset_state();
  EXPECT_EQ(mean.result(), 0);
}

}  // namespace
}  // namespace chorus::test
