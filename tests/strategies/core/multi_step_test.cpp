// SPDX-License-Identifier: Apache-2.0
// What StrategyExtended offers beside reductions: steps in a row, updates, and who owns a component.
#include "core/replicas.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/losses.hpp>
#include <chorus/strategies/multi_step_context.hpp>
#include <chorus/strategies/one_device_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <string>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

/// 0 1 2 ... 7 in batches of four.
auto steps_of(Strategy& strategy) {
  return strategy.distribute_dataset(make_array_dataset(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}).batch(4));
}

double sum_of(const std::vector<double>& rows) {
  double sum = 0;
  for (const double row : rows) sum += row;
  return sum;
}

TEST_P(WithReplicas, RunStepsKeepsWhatTheLastStepHasSet) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto steps = steps_of(strategy);
  auto iterator = steps.iterate();
  int calls = 0;
  const auto step = [&](MultiStepContext& outputs, const auto& batch) {
    EXPECT_TRUE(in_cross_replica_context());
    EXPECT_EQ(&get_strategy(), &strategy);
    ++calls;
    const auto sums = strategy.run(
        [&](const std::vector<double>& rows) {
          outputs.set_last_step_output("sum", sum_of(rows), ReduceOp::sum);
          outputs.set_non_tensor_output("name", "replica " + std::to_string(id()));
          return sum_of(rows);
        },
        batch.batches());
    outputs.set_last_step_output("reduced", sums, ReduceOp::sum);
    outputs.set_last_step_output("as they are", sums);
    outputs.set_non_tensor_output("call", calls);
  };
  const MultiStepContext one = strategy.extended().run_steps(step, iterator);
  EXPECT_EQ(one.steps(), 1);
  EXPECT_EQ(one.last_step_output<double>("sum"), 0 + 1 + 2 + 3);
  const MultiStepContext two = strategy.extended().run_steps(step, iterator, 5, one);
  EXPECT_EQ(two.steps(), 2) << "the data end after two steps";
  EXPECT_EQ(two.last_step_output<double>("sum"), 4 + 5 + 6 + 7);
  EXPECT_EQ(two.last_step_output<double>("reduced"), 4 + 5 + 6 + 7);
  EXPECT_EQ(two.last_step_output<PerReplica<double>>("as they are").values().size(),
            static_cast<std::size_t>(replicas()));
  EXPECT_EQ(two.non_tensor_output<int>("call"), 2);
  const auto& names = two.non_tensor_output<std::vector<std::string>>("name");
  ASSERT_EQ(names.size(), static_cast<std::size_t>(replicas()));
  EXPECT_EQ(names.back(), "replica " + std::to_string(replicas() - 1));
  EXPECT_THAT(two.last_step_outputs(), ElementsAre("as they are", "reduced", "sum"));
  EXPECT_THAT(two.non_tensor_outputs(), ElementsAre("call", "name"));
}

TEST_P(WithReplicas, StructuresOfTheReplicasAreKept) {
  MirroredStrategy strategy = mirrored(replicas());
  MultiStepContext outputs;
  strategy.run([&] {
    outputs.set_last_step_output("sums", std::pair(id(), 1.0), ReduceOp::sum);
    outputs.set_last_step_output("sum", std::tuple(1), ReduceOp::sum);
    outputs.set_non_tensor_output("names", std::pair(std::string("replica"), id()));
  });
  EXPECT_EQ((outputs.last_step_output<std::pair<int, double>>("sums")),
            std::pair(static_cast<int>(sum_of_ids()), static_cast<double>(replicas())));
  EXPECT_EQ(outputs.last_step_output<std::tuple<int>>("sum"), std::tuple(replicas()));
  using Names = std::vector<std::pair<std::string, int>>;
  EXPECT_EQ(outputs.non_tensor_output<Names>("names").back(), std::pair(std::string("replica"), replicas() - 1));
}

TEST(MultiStep, InitialOutputsStayWhereNoStepIsRun) {
  MirroredStrategy strategy = mirrored(2);
  auto iterator = steps_of(strategy).iterate();
  MultiStepContext initial;
  initial.set_last_step_output("loss", 7.0);
  const auto never = [](MultiStepContext&, const auto&) { ADD_FAILURE(); };
  const MultiStepContext outputs = strategy.extended().run_steps(never, iterator, 0, initial);
  EXPECT_EQ(outputs.last_step_output<double>("loss"), 7.0);
  EXPECT_EQ(outputs.steps(), 0);
}

TEST(MultiStep, WhatIsWrong) {
  MirroredStrategy strategy = mirrored(2);
  auto iterator = steps_of(strategy).iterate();
  const auto nothing = [](MultiStepContext&, const auto&) {};
  expect_error(ErrorCode::invalid_argument, "-1 iterations",
               [&] { strategy.extended().run_steps(nothing, iterator, -1); });
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "run_steps", [&] { strategy.extended().run_steps(nothing, iterator); });
  });
  MultiStepContext outputs;
  const auto bare = [&] { outputs.set_last_step_output("loss", 1.0); };
  expect_error(ErrorCode::wrong_context, "the ReduceOp that joins them", [&] { strategy.run(bare); });
  expect_error(ErrorCode::invalid_argument,
               "\"loss\" has not been set in any step: set it in the function given to run_steps, or name one of "
               "last_step_outputs()",
               [&] { std::ignore = outputs.last_step_output<double>("loss"); });
  bare();
  expect_error(ErrorCode::invalid_argument, "\"loss\" has another type",
               [&] { std::ignore = outputs.last_step_output<float>("loss"); });
}

TEST_P(WithReplicas, AnUpdateReturnsWhatTheFunctionGivesForEachComponent) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> v(1.0, {.name = "v"});
  const auto add = [](double& component, double by) { return component += by; };
  const auto numbers = per_replica(strategy, list_of(replicas(), [](int i) { return i + 1.0; }));
  EXPECT_EQ(strategy.extended().update(v, add, numbers), list_of(replicas(), [](int i) { return i + 2.0; }));
  const auto inside = strategy.run([&] { return strategy.extended().update(v, add, 10.0 * id()); });
  EXPECT_THAT(inside.values(), Each(list_of(replicas(), [](int i) { return 11 * i + 2.0; })));
}

TEST_P(WithReplicas, Case133_NonSlotDevicesAreWhereVariablesLie) {
  const auto devices = some_devices(replicas());
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> b(0.0, {.name = "b"});
  const Variable<double> a(0.0, {.name = "a"});
  EXPECT_EQ(strategy.extended().non_slot_devices(b, a).devices, devices);
  for (const Device& device : devices) {
    OneDeviceStrategy one(device);
    EXPECT_THAT(one.extended().non_slot_devices(b).devices, ElementsAre(device));
    CentralStorageStrategy central(devices, device);
    EXPECT_THAT(central.extended().non_slot_devices(b).devices, ElementsAre(device));
  }
  const NonSlotDevices of_default = DefaultStrategy::instance().extended().non_slot_devices(b, a);
  EXPECT_TRUE(of_default.devices.empty());
  EXPECT_EQ(of_default.variable, "a");
}

/// The function of an update: which one it is, and what it is given.
int number_and_value(int value) {
  EXPECT_TRUE(in_cross_replica_context());
  EXPECT_EQ(get_replica_context(), nullptr);
  return 10 * *current_context().update_replica + value;
}

TEST_P(WithReplicas, NonSlotUpdatesAreOncePerDevice) {
  MirroredStrategy strategy = mirrored(replicas());
  StrategyExtended& extended = strategy.extended();
  const auto scope = strategy.scope();
  const Variable<int> v(0, {.name = "v"});
  const auto places = extended.non_slot_devices(v);
  const auto numbers = per_replica(strategy, list_of(replicas(), [](int i) { return i + 1; }));
  EXPECT_EQ(extended.update_non_slot(places, number_and_value, numbers),
            list_of(replicas(), [](int i) { return 11 * i + 1; }));
  int calls = 0;
  strategy.run([&] {
    extended.update_non_slot(
        places, [&](int) { ++calls; }, id());
  });
  EXPECT_EQ(calls, replicas()) << "once for all replicas, for each device";
}

TEST(Update, NonSlotUpdatesAreForDevicesOfTheStrategy) {
  MirroredStrategy strategy = mirrored(3);
  const Variable<int> v(0, {.name = "v"});
  const auto places = strategy.extended().non_slot_devices(v);
  CentralStorageStrategy central(some_devices(3));
  expect_error(ErrorCode::invalid_argument, "non_slot_devices", [&] {
    strategy.extended().update_non_slot(
        {}, [](int) {}, 1);
  });
  expect_error(ErrorCode::invalid_argument, "central storage", [&] {
    central.extended().update_non_slot(
        places, [](int) {}, 1);
  });
  Strategy& of_default = DefaultStrategy::instance();
  EXPECT_THAT(of_default.extended().update_non_slot(of_default.extended().non_slot_devices(v), number_and_value, 7),
              ElementsAre(7));
}

TEST_P(WithReplicas, Case131_AComponentKnowsItsVariable) {
  MirroredStrategy strategy = mirrored(replicas());
  StrategyExtended& extended = strategy.extended();
  const auto scope = strategy.scope();
  const Variable<double> other(0.0, {.name = "other"});
  const Variable<double> v(0.0, {.name = "v"});
  int found = 0;
  extended.update(v, [&](double& component) { found += extended.value_container(component) == v ? 1 : 0; });
  EXPECT_EQ(found, replicas());
  EXPECT_EQ(extended.value_container(v), v);
  const double plain = 0;
  EXPECT_FALSE(extended.value_container(plain));
  const double* gone = nullptr;
  {
    const Variable<double> shortlived(0.0);
    gone = &shortlived.components().front();
    EXPECT_EQ(extended.value_container(*gone), shortlived);
  }
  EXPECT_FALSE(extended.value_container(*gone));
}

TEST(Update, ComponentsAreFoundAmongManyVariables) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<int> first(1);
  for (int i = 0; i < 500; ++i) {
    const Variable<int> passing(i);
    ASSERT_EQ(strategy.extended().value_container(passing.components()[1]), passing);
  }
  EXPECT_EQ(strategy.extended().value_container(first.components()[1]), first);
}

/// Says whether it was asked for reproducible sums.
class Listens final : public CrossDeviceOps {
 public:
  explicit Listens(bool& asked) : asked_(asked) {}

 protected:
  void batch_reduce_implementation(ReplicaGroup& /*group*/, ReduceOp /*op*/, std::span<const ReplicaTensors> /*values*/,
                                   const CommunicationOptions& options) override {
    asked_ = options.reproducible;
  }

 private:
  bool& asked_;
};

TEST_P(WithSeveralReplicas, Case38_RunOptionsHoldForTheRunAndGiveTheSameResult) {
  bool asked = false;
  MirroredStrategy strategy = mirrored(replicas(), std::make_unique<Listens>(asked));
  const RunOptions options{.communication = {.reproducible = true}};
  EXPECT_EQ(strategy.local_results(strategy.run(options, id)), list_of(replicas(), [](int i) { return i; }));
  const auto reduce = [](int by) { return get_replica_context()->all_reduce(ReduceOp::sum, by); };
  strategy.run(options, reduce, 1);
  EXPECT_TRUE(asked) << "all_reduce in the run";
  strategy.run(reduce, 1);
  EXPECT_FALSE(asked) << "the next run has them no longer";
  const auto merge = [] {
    get_replica_context()->merge_call(
        [](Strategy& merged, const PerReplica<int>& values) { std::ignore = merged.reduce(ReduceOp::sum, values); },
        std::tuple(1));
  };
  strategy.run({.communication = {.reproducible = true}}, merge);
  EXPECT_TRUE(asked) << "reduce in a merge_call of the run";
  EXPECT_EQ(DefaultStrategy::instance().run(options, [] { return 3; }).get(), 3);
}

TEST_P(WithReplicas, TheLossReductionIsTheSumUnlessAnotherIsSet) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto losses = per_replica(strategy, list_of(replicas(), [](int i) { return 2.0 * i + 1; }));
  const auto scope = strategy.scope();
  EXPECT_EQ(strategy.reduce(get_loss_reduction(), losses), replicas() * replicas());
  set_loss_reduction(ReduceOp::average);
  EXPECT_EQ(strategy.reduce(get_loss_reduction(), losses), replicas());
  EXPECT_THAT(strategy.run(get_loss_reduction).values(), Each(ReduceOp::average)) << "in replicas, too";
  expect_error(ErrorCode::invalid_argument, "sum or average", [] { set_loss_reduction(ReduceOp::max); });
  strategy.run(
      [] { expect_error(ErrorCode::wrong_context, "set_loss_reduction", [] { set_loss_reduction(ReduceOp::sum); }); });
  EXPECT_EQ(mirrored(2).extended().loss_reduction(), ReduceOp::sum) << "another strategy has its own";
}

TEST(CentralStorage, TakesCommunicationOptions) {
  const CentralStorageStrategy strategy(some_devices(2), {}, {.bytes_per_pack = 77});
  EXPECT_EQ(const_cast<CentralStorageStrategy&>(strategy).extended().communication_options().bytes_per_pack, 77U);
}

}  // namespace
}  // namespace chorus::test
