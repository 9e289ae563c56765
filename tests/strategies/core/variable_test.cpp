// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/one_device_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using Aggregation = VariableAggregation;
using Synchronization = VariableSynchronization;

Variable<float> variable_of(Strategy& strategy, Aggregation aggregation, float initial = 0) {
  const auto scope = strategy.scope();
  return Variable<float>(initial, {.name = "v", .aggregation = aggregation});
}

Variable<float> on_read(Strategy& strategy, Aggregation aggregation) {
  const auto scope = strategy.scope();
  return Variable<float>(0, {.name = "v", .synchronization = Synchronization::on_read, .aggregation = aggregation});
}

TEST_P(WithReplicas, Case115_EveryComponentIsWhatTheFirstReplicaMade) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto made = strategy.run([] { return Variable<int>(id() + 5); });
  EXPECT_EQ(made[0].components(), std::vector<int>(static_cast<std::size_t>(replicas()), 5));
  EXPECT_THAT(made.values(), Each(made[0])) << "one variable";
}

TEST_P(WithReplicas, Case116_WhatReplicasAssignIsAggregated) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto assigned = [&](Aggregation aggregation, int more) {
    const Variable<float> v = variable_of(strategy, aggregation);
    strategy.run([&] { v.assign(static_cast<float>(id() + more)); });
    EXPECT_EQ(v.components().size(), static_cast<std::size_t>(replicas()));
    return v.components();
  };
  for (const int more : {0, 1}) {
    const auto sum = static_cast<float>(sum_of_ids() + replicas() * more);
    EXPECT_THAT(assigned(Aggregation::mean, more), Each(sum / static_cast<float>(replicas())));
    EXPECT_THAT(assigned(Aggregation::sum, more), Each(sum));
    EXPECT_THAT(assigned(Aggregation::only_first_replica, more), Each(static_cast<float>(more)));
  }
}

TEST_P(WithSeveralReplicas, Case117_WithoutAnAggregationReplicasCannotWrite) {
  MirroredStrategy strategy = mirrored(replicas());
  const Variable<float> v = variable_of(strategy, Aggregation::none, 3);
  expect_error(ErrorCode::wrong_context, "Variable::assign of \"v\" in replica",
               [&] { strategy.run([&] { v.assign(1); }); });
  EXPECT_THAT(v.components(), Each(3));
}

TEST_P(WithReplicas, AddingADistributedValueAddsToEachComponentItsOwn) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const auto ids = strategy.run([] { return id(); });
  for (const auto synchronization : {VariableSynchronization::on_write, VariableSynchronization::on_read}) {
    const Variable<int> v(5, {.name = "v", .synchronization = synchronization});
    v.assign_add(ids);
    v.assign_add(ids);
    v.assign_sub(ids);
    for (const int i : strategy.local_results(ids)) EXPECT_EQ(v.components().at(static_cast<std::size_t>(i)), 5 + i);
  }
  const Variable<int> sum(
      0, {.name = "sum", .synchronization = VariableSynchronization::on_read, .aggregation = Aggregation::sum});
  if (replicas() > 1) {
    expect_error(ErrorCode::wrong_context, "\"sum\"", [&] { sum.assign_add(ids); });
    EXPECT_EQ(sum.value(), 0);
  }
}

TEST(Variable, OfBool) {
  MirroredStrategy strategy = mirrored(3);
  const auto scope = strategy.scope();
  const Variable<bool> first(true, {.name = "first", .aggregation = Aggregation::only_first_replica});
  EXPECT_TRUE(first.value());
  first.assign(false);
  EXPECT_THAT(first.components(), ElementsAre(false, false, false));
  strategy.run([&] { first.assign(id() == 0); });
  EXPECT_THAT(first.components(), ElementsAre(true, true, true));
  first.assign(per_replica<bool>(strategy, {true, false, true}));
  EXPECT_EQ(strategy.run([&] { return first.value(); })[1], false);
  strategy.run([&] { first.update([](bool& mine) { mine = !mine; }); });
  EXPECT_THAT(first.components(), ElementsAre(false, true, false));
  EXPECT_EQ(strategy.extended().value_container(first.components()[1]), first);
  EXPECT_THAT(strategy.extended().update(first, [](bool& mine) { return mine; }), ElementsAre(false, true, false));
  first.assign(true);
  EXPECT_TRUE(strategy.reduce(ReduceOp::min, first));

  for (const Aggregation aggregation : {Aggregation::sum, Aggregation::mean}) {
    expect_error(ErrorCode::invalid_argument, "take another type or aggregation",
                 [&] { Variable<bool>(false, {.name = "v", .aggregation = aggregation}); });
  }
}

TEST_P(WithReplicas, Case118_AStepCounter) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<int> first(0, {.aggregation = Aggregation::only_first_replica});
  const Variable<int> sum(0, {.aggregation = Aggregation::sum});
  for (int step = 1; step <= 3; ++step) {
    strategy.run([&] {
      first.assign_add(1);
      sum.assign_add(1);
    });
    EXPECT_THAT(first.components(), Each(step));
    EXPECT_THAT(sum.components(), Each(step * replicas()));
  }
}

TEST_P(WithReplicas, Case121_SynchronisedOnRead) {
  MirroredStrategy strategy = mirrored(replicas());
  const std::vector<float> ids = list_of(replicas(), [](int i) { return static_cast<float>(i); });
  const auto sum = static_cast<float>(sum_of_ids());
  for (const auto& [aggregation, expected] :
       {std::pair(Aggregation::sum, sum), std::pair(Aggregation::mean, sum / static_cast<float>(replicas())),
        std::pair(Aggregation::only_first_replica, 0.0F)}) {
    const Variable<float> v = on_read(strategy, aggregation);
    const auto own = strategy.run([&] {
      v.assign(static_cast<float>(id()));
      return v.value();
    });
    EXPECT_EQ(strategy.local_results(own), ids);
    EXPECT_EQ(v.value(), expected);
    EXPECT_EQ(v.components(), ids) << "reading changes nothing";
  }
  const Variable<float> v = on_read(strategy, Aggregation::none);
  expect_error(ErrorCode::wrong_context, "aggregation", [&] { std::ignore = v.value(); });
}

TEST_P(WithSeveralReplicas, Case122_AssigningASumFromOutsideSplitsIt) {
  MirroredStrategy strategy = mirrored(replicas());
  const Variable<float> v = on_read(strategy, Aggregation::sum);
  const float share = 2.5F;
  v.assign(share * static_cast<float>(replicas()));
  EXPECT_THAT(v.components(), Each(share));
  EXPECT_EQ(v.value(), share * static_cast<float>(replicas()));
  expect_error(ErrorCode::wrong_context, "each would add", [&] { v.assign_add(1); });
  const Variable<float> mean = on_read(strategy, Aggregation::mean);
  mean.assign_add(1);
  EXPECT_THAT(mean.components(), Each(1));
  const auto scope = strategy.scope();
  const Variable<int> whole(0, {.synchronization = Synchronization::on_read, .aggregation = Aggregation::sum});
  expect_error(ErrorCode::invalid_argument, "remainder", [&] { whole.assign(10 * replicas() + 1); });
  whole.assign(10 * replicas());
  EXPECT_THAT(whole.components(), Each(10));
}

TEST_P(WithReplicas, Case128_AssigningFromOutsideReachesEveryReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const Variable<float> v = variable_of(strategy, Aggregation::none);
  const auto seen = [&] { return strategy.local_results(strategy.run([&] { return v.value(); })); };
  v.assign(5);
  EXPECT_EQ(v.value(), 5);
  EXPECT_THAT(seen(), Each(5));
  const std::vector<float> different = list_of(replicas(), [](int i) { return static_cast<float>(i + 1); });
  v.assign(per_replica(strategy, different));
  EXPECT_EQ(seen(), different);
  const auto scope = strategy.scope();
  v.assign(6);
  EXPECT_EQ(v.value(), 6) << "in a scope, too";
  EXPECT_THAT(v.components(), Each(6));
  EXPECT_THAT(seen(), Each(6));
}

TEST_P(WithReplicas, Case130_AnUpdateIsOfEveryComponentOnce) {
  MirroredStrategy strategy = mirrored(replicas());
  const Variable<float> v = variable_of(strategy, Aggregation::none);
  int calls = 0;
  const auto add = [&](float& component, float given) {
    ++calls;
    EXPECT_TRUE(in_cross_replica_context());
    EXPECT_EQ(&v.value(), &component) << "reads the component that is updated";
    component += given;
  };
  const auto scope = strategy.scope();
  const auto times = [](int factor) {
    return list_of(replicas(), [factor](int i) { return static_cast<float>(factor * i + 1); });
  };
  strategy.extended().update(v, add, per_replica(strategy, times(1)));
  EXPECT_EQ(v.components(), times(1));
  strategy.run([&] { strategy.extended().update(v, add, static_cast<float>(10 * id())); });
  EXPECT_EQ(v.components(), times(11));
  EXPECT_EQ(calls, 2 * replicas());
}

TEST(Variable, Case131_BelongsToOneStrategy) {
  MirroredStrategy mine = mirrored(2);
  MirroredStrategy other = mirrored(2);
  const Variable<float> v = variable_of(mine, Aggregation::sum);
  EXPECT_TRUE(mine.extended().variable_created_in_scope(v));
  EXPECT_FALSE(other.extended().variable_created_in_scope(v));
  expect_error(ErrorCode::invalid_argument, "which belongs to another mirrored strategy (a second object of its kind)",
               [&] { std::ignore = other.extended().colocate_vars_with(v); });
  const auto scope = other.scope();
  expect_error(ErrorCode::wrong_context,
               "Variable::value of \"v\": it belongs to the mirrored strategy and is used in the scope of another "
               "mirrored strategy",
               [&] { std::ignore = v.value(); });
}

TEST_P(WithSeveralReplicas, Case134_ReplicasMakeTheSameVariables) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto different = [] {
    const std::vector<float> initial(id() == last() ? 3U : 2U);
    std::ignore = Variable<std::vector<float>>(initial, {.name = "w"});
  };
  expect_error(ErrorCode::mismatch,
               "\"w\" of float32 (2), replica " + std::to_string(last()) + " makes \"w\" of float32 (3)",
               [&] { strategy.run(different); });
}

TEST_P(WithSeveralReplicas, Case134_AReplicaThatMakesNoneIsNamed) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto one_skips = [] {
    if (id() != last()) std::ignore = Variable<float>(0, {.name = "w"});
  };
  expect_error(ErrorCode::mismatch,
               "replica 0 to Variable::Variable, replica " + std::to_string(last()) + " to the end of the function",
               [&] { strategy.run(one_skips); });
  EXPECT_THAT(strategy.run([] { return Variable<float>(4).value(); }).values(), Each(4)) << "works again";
}

TEST(Variable, OptionsThatContradictEachOtherAreRefused) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  expect_error(ErrorCode::invalid_argument, "none is not for strategies",
               [] { Variable<float>(0, {.synchronization = Synchronization::none}); });
  expect_error(ErrorCode::invalid_argument, "cannot be trainable",
               [] { Variable<float>(0, {.synchronization = Synchronization::on_read, .trainable = true}); });
  expect_error(ErrorCode::invalid_argument, "mean of integers",
               [] { Variable<int>(0, {.aggregation = Aggregation::mean}); });
  EXPECT_FALSE(Variable<float>(0, {.synchronization = Synchronization::on_read}).trainable());
  EXPECT_TRUE(Variable<float>(0).trainable());
}

TEST_P(WithReplicas, CentralStorageHasOneComponentForAllReplicas) {
  CentralStorageStrategy strategy(some_devices(replicas()));
  const Variable<float> v = variable_of(strategy, Aggregation::sum, 1);
  EXPECT_EQ(v.components().size(), 1U);
  const auto seen = strategy.run([&] {
    const float before = v.value();
    v.assign_add(static_cast<float>(id()));
    return 100 * before + v.value();
  });
  EXPECT_THAT(seen.values(), Each(static_cast<float>(101 + sum_of_ids())));
}

/// Writes a variable without an aggregation, which one replica may and of several none.
template <class AnyStrategy>
void expect_written_by_one_alone(AnyStrategy& strategy) {
  const auto scope = strategy.scope();
  const Variable<float> v(1, {.name = "v"});
  const auto writes = [&] {
    strategy.run([&] {
      v.assign(3);
      v.assign_add(1);
    });
  };
  if (strategy.num_replicas_in_sync() == 1) {
    writes();
    EXPECT_EQ(v.value(), 4);
  } else {
    expect_error(ErrorCode::wrong_context, "no aggregation", writes);
    EXPECT_EQ(v.value(), 1);
  }
}

TEST_P(WithReplicas, WithoutAnAggregationOneReplicaWritesAlone) {
  CentralStorageStrategy central(some_devices(replicas()));
  expect_written_by_one_alone(central);
  MirroredStrategy copies = mirrored(replicas());
  expect_written_by_one_alone(copies);
  OneDeviceStrategy one(some_devices(1).front());
  expect_written_by_one_alone(one);
}

TEST(Variable, MatricesAndTheDefaultStrategy) {
  const Variable<Eigen::MatrixXf> v(Eigen::MatrixXf::Ones(2, 2), {.aggregation = Aggregation::sum});
  v.assign_add(Eigen::MatrixXf::Ones(2, 2));
  EXPECT_EQ(v.value(), Eigen::MatrixXf::Constant(2, 2, 2));
  v.assign_sub(v.value());
  EXPECT_EQ(v.value(), Eigen::MatrixXf::Zero(2, 2));
}

TEST_P(WithReplicas, Case50a_AllReduceOfAVariableIsOfItsValues) {
  MirroredStrategy strategy = mirrored(replicas());
  const Variable<float> v = variable_of(strategy, Aggregation::none, 1);
  const auto sums = strategy.run([&] {
    const float of_value = get_replica_context()->all_reduce(ReduceOp::sum, v.value());
    EXPECT_EQ(get_replica_context()->all_reduce(ReduceOp::sum, 0 + v), of_value);
    return of_value;
  });
  EXPECT_THAT(sums.values(), Each(static_cast<float>(replicas())));
}

TEST_P(WithReplicas, Case119_APlainNumberIsWhatEachReplicaAssigns) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> sum(0.0, {.aggregation = Aggregation::sum});
  const Variable<double> mean(0.0, {.aggregation = Aggregation::mean});
  strategy.run([&] {
    sum.assign(1.0);
    mean.assign(1.0);
  });
  EXPECT_THAT(sum.components(), Each(replicas())) << "there an error";
  EXPECT_THAT(mean.components(), Each(1));
}

}  // namespace
}  // namespace chorus::test
