// SPDX-License-Identifier: Apache-2.0
// Replicas that come to one place of the program for different things: nothing of another type is read, nothing is done
// for one replica in the name of all.
#include "core/replicas.hpp"
#include "worlds/scoped_variable.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/indexed_slices.hpp>
#include <chorus/strategies/multi_step_context.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/tensor.hpp>
#include <chorus/strategies/variable.hpp>

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

/// Calls `call` with `last_value` in the last replica and with `value` in the others: at one place of the program,
/// whatever the types are.
template <class Call, class Value, class LastValue>
void run_with(Strategy& strategy, const Call& call, const Value& value, const LastValue& last_value) {
  strategy.run([&] {
    if (id() == strategy.num_replicas_in_sync() - 1)
      call(last_value);
    else
      call(value);
  });
}

/// Expects run_with to be refused for what the first and the last replica have come with.
template <class Call, class Value, class LastValue>
void expect_refused(const std::string& first, const std::string& last, const Call& call, const Value& value,
                    const LastValue& last_value) {
  MirroredStrategy strategy = mirrored(3);
  expect_error(ErrorCode::mismatch, "replica 0 with " + first + ", replica 2 with " + last + ": give",
               [&] { run_with(strategy, call, value, last_value); });
  EXPECT_EQ(strategy.run(id)[2], 2) << "works again";
}

constexpr auto merge_value = [](const auto& value) {
  const auto merge = [](Strategy& /*strategy*/, const auto& /*values*/) { ADD_FAILURE() << "was called"; };
  get_replica_context()->merge_call(merge, std::tuple(value));
};
constexpr auto merge_function = [](const auto& function) { get_replica_context()->merge_call(function); };
constexpr auto gather_rows = [](const auto& rows) { std::ignore = get_replica_context()->all_gather(rows, 0); };

// Also where the ranks of a job are to use no memory of their node, or to pretend smaller nodes.
TEST(DifferentCalls, OperationsThatDifferAreFoundWhateverTheEnvironmentSaysOfNodes) {
  const auto refused = [] {
    MirroredStrategy strategy = mirrored(2);
    expect_error(ErrorCode::mismatch, "all_reduce by max", [&] {
      strategy.run([] {
        std::ignore = get_replica_context()->all_reduce(id() == 1 ? ReduceOp::max : ReduceOp::sum, 1.0 + id());
      });
    });
  };
  refused();
  {
    const ScopedVariable off("CHORUS_SHARED_MEMORY", "off");
    refused();
  }
  const ScopedVariable nodes("CHORUS_NODE_RANKS", "1");
  refused();
}

TEST(DifferentCalls, ShapesAndKeysThatDifferAreNamedWithTheReplicas) {
  MirroredStrategy strategy = mirrored(2);
  const auto refused = [&](const std::string& text, const auto& make) {
    expect_error(
        ErrorCode::mismatch, "Strategy::run: the replicas have come to all_reduce by sum with different " + text,
        [&] { strategy.run([&] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, make()); }); });
  };
  refused("tensors: replica 0 with float64 (2), replica 1 with float64 (3): give the same in every replica",
          [] { return std::vector<double>(id() == 1 ? 3 : 2); });
  refused("tensors: replica 0 with float64 () in [loss], replica 1 with float64 () in [accuracy]: give", [] {
    return std::map<std::string, double>{{id() == 1 ? "accuracy" : "loss", 1.0}};
  });
}

TEST(DifferentCalls, Case35_ArgumentsOfDifferentTypes) {
  expect_refused("void (std::tuple<std::vector<double>>)", "void (std::tuple<double>)", merge_value,
                 std::vector<double>{1, 2}, 7.0);
  expect_refused("void (std::tuple<std::string>)", "void (std::tuple<std::vector<std::string>>)", merge_value,
                 std::string("a"), std::vector<std::string>{"b"});
}

TEST(DifferentCalls, Case35_ResultsOfDifferentTypes) {
  expect_refused(
      "int (std::tuple<>)", "double (std::tuple<>)", merge_function, [](Strategy&) { return 1; },
      [](Strategy&) { return 1.0; });
}

void never(Strategy& /*strategy*/) { ADD_FAILURE() << "was called"; }
void nor_this(Strategy& strategy) { never(strategy); }

TEST_P(WithSeveralReplicas, Case35_DifferentFunctionsThroughOneHelper) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto refused = [&](const auto& function, const auto& last_function) {
    expect_error(ErrorCode::mismatch, "with different functions: replica 0 with ",
                 [&] { run_with(strategy, merge_function, function, last_function); });
  };
  refused([](Strategy&) { ADD_FAILURE() << "was called"; }, [](Strategy&) { ADD_FAILURE() << "was called"; });
  refused(&never, &nor_this);
  refused(std::function(never), std::function(nor_this));
  refused(std::function(never), std::function<void(Strategy&)>([](Strategy& merged) { never(merged); }));
}

TEST_P(WithReplicas, Case35_OneFunctionThroughOneHelper) {
  MirroredStrategy strategy = mirrored(replicas());
  static int calls = 0;
  calls = 0;
  constexpr auto count = [](Strategy&) { ++calls; };
  run_with(strategy, merge_function, count, count);
  void (*const pointer)(Strategy&) = count;
  run_with(strategy, merge_function, pointer, pointer);
  run_with(strategy, merge_function, std::function<void(Strategy&)>(count), std::function<void(Strategy&)>(count));
  EXPECT_EQ(calls, 3);
}

TEST(DifferentCalls, Case59_RowsOfDifferentTypesOrRanks) {
  const std::vector<float> rows{1, 2};
  const std::string first = "std::vector<float> (std::tuple<std::vector<float>>)";
  expect_refused(first, "std::vector<double> (std::tuple<std::vector<double>>)", gather_rows, rows,
                 std::vector<double>{3, 4});
  expect_refused(first, "chorus::Tensor<float, 2> (std::tuple<chorus::Tensor<float, 2>>)", gather_rows, rows,
                 Tensor<float, 2>({2, 2}));
}

TEST(DifferentCalls, OutputsOfDifferentTypes) {
  MirroredStrategy strategy = mirrored(2);
  const auto steps = strategy.distribute_dataset(make_array_dataset(std::vector<double>(8)).batch(4));
  auto iterator = steps.iterate();
  const auto expect_refused_step = [&](const auto& set) {
    const auto step = [&](MultiStepContext& outputs, const auto& /*batch*/) {
      const auto set_one = [&](const auto& value) { set(outputs, value); };
      run_with(strategy, set_one, 1.0, std::vector<double>{1, 2});
    };
    expect_error(ErrorCode::mismatch,
                 "void (std::tuple<double>), replica 1 with void (std::tuple<std::vector<double>>)",
                 [&] { std::ignore = strategy.extended().run_steps(step, iterator); });
  };
  expect_refused_step(
      [](MultiStepContext& outputs, const auto& value) { outputs.set_last_step_output("a", value, ReduceOp::sum); });
  expect_refused_step([](MultiStepContext& outputs, const auto& value) { outputs.set_non_tensor_output("a", value); });
}

TEST(DifferentCalls, OutputsOfDifferentNamesOrOperations) {
  MirroredStrategy strategy = mirrored(2);
  const auto steps = strategy.distribute_dataset(make_array_dataset(std::vector<double>(8)).batch(4));
  auto iterator = steps.iterate();
  const auto expect_refused_step = [&](const std::string& text, const auto& set) {
    const auto step = [&](MultiStepContext& outputs, const auto& /*batch*/) { strategy.run([&] { set(outputs); }); };
    expect_error(ErrorCode::mismatch, "with different arguments: " + text,
                 [&] { std::ignore = strategy.extended().run_steps(step, iterator); });
  };
  expect_refused_step("replica 0 with \"a\" by sum, replica 1 with \"b\" by sum", [](MultiStepContext& outputs) {
    outputs.set_last_step_output(id() == 0 ? "a" : "b", 1.0, ReduceOp::sum);
  });
  EXPECT_EQ(strategy.run(id)[1], 1) << "works again";
}

TEST_P(WithSeveralReplicas, RowsAlongDifferentAxes) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto gather = [&] {
    std::ignore = get_replica_context()->all_gather(Tensor<int, 2>({2, 2}), id() == last() ? 1 : 0);
  };
  expect_error(ErrorCode::mismatch,
               "with different arguments: replica 0 with axis 0, replica " + std::to_string(last()) + " with axis 1",
               [&] { strategy.run(gather); });
}

TEST_P(WithSeveralReplicas, Case130_UpdatesOfDifferentVariables) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> a(0.0, {.name = "a"});
  const Variable<double> b(0.0, {.name = "b"});
  const auto never = [](double& /*component*/) { ADD_FAILURE() << "was called"; };
  const auto update = [&](const auto& variable) { strategy.extended().update(variable, never); };
  expect_error(ErrorCode::mismatch,
               "replica 0 to StrategyExtended::update of \"a\", replica " + std::to_string(last()) +
                   " to StrategyExtended::update of \"b\"",
               [&] { run_with(strategy, update, a, b); });
  strategy.run([&] { strategy.extended().update(a, [](double& component) { component += 1; }); });
  EXPECT_THAT(a.components(), testing::Each(1)) << "works again";
}

TEST_P(WithSeveralReplicas, Case130_UpdatesByDifferentFunctions) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<double> v(0.0, {.name = "v"});
  const auto never = [](const auto&... /*values*/) { ADD_FAILURE() << "was called"; };
  const auto nor_this = [](const auto&... /*values*/) { ADD_FAILURE() << "was called"; };
  const auto refused = [&](const std::string& what, const auto& update, const auto& one, const auto& other) {
    expect_error(ErrorCode::mismatch, what, [&] { run_with(strategy, update, one, other); });
  };
  const NonSlotDevices where = strategy.extended().non_slot_devices(v);
  const NonSlotDevices less{{where.devices.front()}, {}};
  const auto by = [&](const auto& function) { strategy.extended().update(v, function); };
  const auto with = [&](const auto& value) { strategy.extended().update(v, never, value); };
  const auto elsewhere_by = [&](const auto& function) { strategy.extended().update_non_slot(where, function); };
  const auto at = [&](const NonSlotDevices& devices) { strategy.extended().update_non_slot(devices, never); };
  refused("StrategyExtended::update of \"v\" with different functions", by, never, nor_this);
  refused("void (std::tuple<int>), replica " + std::to_string(last()) + " with void (std::tuple<double>)", with, 1,
          1.0);
  refused("StrategyExtended::update_non_slot with different functions", elsewhere_by, never, nor_this);
  refused("StrategyExtended::update_non_slot with different arguments: replica 0 with /cpu:0, /cpu:1", at, where, less);
  EXPECT_THAT(v.components(), testing::Each(0));
}

TEST_P(WithSeveralReplicas, Case134_VariablesOfDifferentTypes) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto make = [](const auto& initial) { std::ignore = Variable(initial, {.name = "v"}); };
  const std::string last_replica = std::to_string(last());
  expect_error(ErrorCode::mismatch,
               "replica 0 makes \"v\" as a std::vector<float>, replica " + last_replica +
                   " as a chorus::Tensor<float, 1>: make variables of the same type in every replica",
               [&] { run_with(strategy, make, std::vector<float>(3), Tensor<float, 1>({3})); });
  expect_error(ErrorCode::mismatch, "\"v\" of float32 (3), replica " + last_replica + " makes \"v\" of float32 ()",
               [&] { run_with(strategy, make, std::vector<float>(3), 1.0F); });
  EXPECT_EQ(strategy.run(id)[1], 1) << "works again";
}

}  // namespace
}  // namespace chorus::test
