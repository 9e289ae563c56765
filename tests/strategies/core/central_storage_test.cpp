// SPDX-License-Identifier: Apache-2.0
// CentralStorageStrategy: what replicas do together as under a mirrored one, with one copy of each variable.
#include "core/replicas.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/losses.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/variable.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;

class CentralStorage : public WithReplicas {
 protected:
  CentralStorageStrategy strategy{some_devices(replicas())};
};

TEST_P(CentralStorage, ReducesAndGathersWhatItsReplicasReturn) {
  const auto numbers = strategy.run([] { return static_cast<double>(id()); });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, numbers), sum_of_ids());
  EXPECT_EQ(strategy.reduce(ReduceOp::average, numbers), static_cast<double>(sum_of_ids()) / replicas());
  EXPECT_EQ(strategy.reduce(ReduceOp::max, numbers), last());
  const auto rows = strategy.run([] { return std::vector<double>(static_cast<std::size_t>(id() + 1), 1); });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, rows, 0), sum_of_ids() + replicas());
  EXPECT_EQ(strategy.gather(rows, 0).size(), static_cast<std::size_t>(sum_of_ids() + replicas()));
}

TEST_P(CentralStorage, ReplicasReduceAndMeet) {
  const auto sums = strategy.run([] {
    const int sum = get_replica_context()->all_reduce(ReduceOp::sum, id());
    int merged = 0;
    get_replica_context()->merge_call([&](Strategy& merging) { merged = merging.num_replicas_in_sync(); });
    return std::tuple(sum, merged);
  });
  EXPECT_EQ(std::get<0>(sums[0]), sum_of_ids());
  EXPECT_THAT(strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::max, id()); }).values(),
              Each(last()));
}

TEST_P(CentralStorage, DividesEachBatchAmongItsReplicas) {
  std::vector<std::int64_t> rows(20);
  std::iota(rows.begin(), rows.end(), 0);
  std::int64_t sum = 0;
  std::size_t taken = 0;
  for (const auto& step : strategy.distribute_dataset(make_array_dataset(rows).batch(9))) {
    EXPECT_EQ(step.local_sizes().size(), static_cast<std::size_t>(replicas()));
    taken += step.global_size();
    const auto sums = strategy.run(
        [](const std::vector<std::int64_t>& mine) {
          return std::accumulate(mine.begin(), mine.end(), std::int64_t{0});
        },
        step.batches());
    sum += strategy.reduce(ReduceOp::sum, sums);
  }
  EXPECT_EQ(taken, rows.size());
  EXPECT_EQ(sum, 190);
}

/// What a variable is after three steps of an optimizer by gradients that differ between the replicas.
template <class Make>
double trained(Strategy& strategy, const Make& make, std::size_t components) {
  const auto scope = strategy.scope();
  const Variable<double> v(1.0);
  auto optimizer = make(std::tuple{v});
  for (int step = 0; step < 3; ++step) strategy.run([&] { optimizer.apply_gradients({id() + 1.0}); });
  EXPECT_EQ(v.components().size(), components);
  return v.value();
}

TEST_P(CentralStorage, OptimizersDoAsUnderAMirroredStrategy) {
  MirroredStrategy other = mirrored(replicas());
  const auto copies = static_cast<std::size_t>(replicas());
  const auto sgd = [](auto variables) { return Sgd{variables, SgdOptions{.learning_rate = 0.5, .momentum = 0.5}}; };
  EXPECT_EQ(trained(strategy, sgd, 1), trained(other, sgd, copies));
  const auto adam = [](auto variables) { return Adam{variables, AdamOptions{.learning_rate = 0.5}}; };
  EXPECT_EQ(trained(strategy, adam, 1), trained(other, adam, copies));
}

TEST_P(CentralStorage, AValueOfEachReplicaIsAggregatedToTheOneComponent) {
  const auto scope = strategy.scope();
  const auto ids = strategy.run([] { return id() + 1.0; });
  const double sum = sum_of_ids() + replicas();
  const auto written = [&](VariableAggregation aggregation) {
    const Variable<double> v(0.0, {.name = "v", .aggregation = aggregation});
    v.assign(ids);
    const double assigned = v.value();
    v.assign_add(ids);
    v.assign_add(ids);
    v.assign_sub(ids);
    EXPECT_EQ(v.value(), 2 * assigned);
    strategy.run([&] {
      const auto assign = [&](Strategy& /*merged*/, const PerReplica<double>& values) { v.assign(values); };
      get_replica_context()->merge_call(assign, std::tuple(id() + 1.0));
    });
    EXPECT_EQ(v.value(), assigned) << "in the function of a merge_call, too";
    return assigned;
  };
  EXPECT_EQ(written(VariableAggregation::sum), sum);
  EXPECT_EQ(written(VariableAggregation::mean), sum / replicas());
  EXPECT_EQ(written(VariableAggregation::only_first_replica), 1);
  EXPECT_EQ(ids[0], 1) << "is not written to";
}

TEST_P(CentralStorage, WithoutAnAggregationAValueOfEachReplicaIsRefused) {
  const auto scope = strategy.scope();
  const auto ids = strategy.run([] { return id() + 1; });
  const Variable<int> v(7, {.name = "v"});
  if (replicas() == 1) {
    v.assign(ids);
    EXPECT_EQ(v.value(), 1);
    return;
  }
  const std::string text = " of \"v\": " + std::to_string(replicas()) + " replicas have one component";
  expect_error(ErrorCode::wrong_context, "Variable::assign" + text, [&] { v.assign(ids); });
  expect_error(ErrorCode::wrong_context, "Variable::assign_sub" + text, [&] { v.assign_sub(ids); });
  EXPECT_EQ(v.value(), 7);
}

TEST_P(CentralStorage, GathersWhatTheReplicasReadOfAVariable) {
  const auto scope = strategy.scope();
  const Variable<std::vector<int>> v(std::vector<int>{5});
  EXPECT_EQ(strategy.gather(v, 0), std::vector<int>(static_cast<std::size_t>(replicas()), 5));
}

TEST_P(CentralStorage, MetricsCountAllReplicas) {
  const auto scope = strategy.scope();
  Mean mean;
  strategy.run([&] { mean.update_state(static_cast<double>(id())); });
  EXPECT_EQ(mean.result(), static_cast<double>(sum_of_ids()) / replicas());
}

TEST_P(CentralStorage, AReplicaThatThrowsHoldsNobodyUp) {
  const auto scope = strategy.scope();
  const Variable<double> v(1.0, {.aggregation = VariableAggregation::sum});
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(strategy.run([&] {
      if (id() == last()) throw std::runtime_error("no data");
      v.assign_add(1);
    }),
                 std::runtime_error);
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, strategy.run(id)), sum_of_ids());
  }
}

TEST(CentralStorageStrategy, TheVariablesAreOnTheDeviceThatIsNamed) {
  const std::vector<Device> devices = some_devices(3);
  CentralStorageStrategy strategy(devices, devices[2]);
  EXPECT_THAT(strategy.extended().parameter_devices(), testing::ElementsAre(devices[2]));
  EXPECT_THAT(strategy.extended().worker_devices(), testing::ElementsAreArray(devices));
}

INSTANTIATE_TEST_SUITE_P(Every, CentralStorage, testing::Values(1, 2, 3, 4, 8));

}  // namespace
}  // namespace chorus::test
