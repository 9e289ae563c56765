// SPDX-License-Identifier: Apache-2.0
// What a program may do wrong, and what it is told: nothing of it reads or writes memory that is not its own.
#include "core/replicas.hpp"

#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/one_device_strategy.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <gmock/gmock.h>

#include <array>
#include <complex>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using Values = std::vector<float>;

TEST(Misuse, ReplicasWithDifferentNumbersOfTensors) {
  const auto reduce = [] {
    std::vector<Values> mine(static_cast<std::size_t>(2 - id()), Values(3));
    get_replica_context()->all_reduce_in_place(ReduceOp::sum, mine);
  };
  MirroredStrategy one_device = mirrored(2, std::make_unique<ReductionToOneDevice>());
  expect_error(ErrorCode::mismatch, "replica 1 gives 1 tensors, replica 0 2", [&] { one_device.run(reduce); });
  MirroredStrategy collective = mirrored(2, nullptr, {.bytes_per_pack = 1});
  EXPECT_THROW(collective.run(reduce), Error);
}

TEST(Misuse, MoreReplicasThanTheSystemHasThreadsFor) {
  {
    const NoThreads none;
    expect_error(ErrorCode::transport,
                 "strategy: the system starts no thread for replica 1 of 3 of this process (Resource temporarily "
                 "unavailable): take fewer devices",
                 [] { std::ignore = mirrored(3); });
  }
  EXPECT_EQ(mirrored(3).num_replicas_in_sync(), 3);
}

TEST(Misuse, OperationsThatTypesDoNotHaveAreRefusedAlike) {
  MirroredStrategy two = mirrored(2);
  const auto refused = [&](ReduceOp op, auto value, const std::string& why) {
    expect_error(ErrorCode::invalid_argument, "ReplicaContext::all_reduce: " + why,
                 [&] { two.run([&] { std::ignore = get_replica_context()->all_reduce(op, value); }); });
    expect_error(ErrorCode::invalid_argument, "Strategy::reduce: " + why,
                 [&] { std::ignore = two.reduce(op, two.run([&] { return value; })); });
  };
  refused(ReduceOp::sum, true, "bool elements have no sum");
  refused(ReduceOp::average, true, "bool elements have no average");
  refused(ReduceOp::average, 1, "the average of int32 elements");
  refused(ReduceOp::product, 1.0, "strategies do not reduce by product");
  refused(ReduceOp::max, std::complex<float>(1), "complex64 elements have no order");
}

TEST(Misuse, ValuesOfAnotherNumberOfReplicas) {
  MirroredStrategy one = mirrored(1);
  MirroredStrategy two = mirrored(2);
  const auto values = per_replica<Values>(two, {{1}, {2}});
  expect_error(ErrorCode::invalid_argument, "2 components of 1 local",
               [&] { std::ignore = one.reduce(ReduceOp::sum, values); });
  expect_error(ErrorCode::invalid_argument, "2 components of 1 local", [&] { std::ignore = one.gather(values, 0); });
  const auto scope = two.scope();
  const Variable<Values> v(Values{0});
  expect_error(ErrorCode::invalid_argument, "1 values for 2", [&] { v.assign(per_replica<Values>(one, {{1}})); });
}

TEST(Misuse, ArgumentsOfAnotherNumberOfReplicas) {
  MirroredStrategy two = mirrored(2);
  MirroredStrategy four = mirrored(4);
  const auto few = per_replica<Values>(two, {{1}, {2}});
  const auto take = [](const auto&... /*values*/) {};
  const auto reads = [&](const auto& argument) {
    expect_error(ErrorCode::invalid_argument, "Strategy::run: 2 components of 4 local replicas",
                 [&] { four.run(take, 1, argument); });
  };
  reads(few);
  reads(std::tuple(1, few));
  reads(std::pair(few, 1));
  reads(std::array{few, few});
  reads(std::vector{few});
  reads(std::map<std::string, PerReplica<Values>>{{"a", few}});
  reads(per_replica<PerReplica<Values>>(four, {few, few, few, few}));
  expect_error(ErrorCode::invalid_argument, "Strategy::run: 4 components of 2 local",
               [&] { two.run(take, four.extended().broadcast_to(1)); });
  expect_error(ErrorCode::invalid_argument, "Strategy::run: 2 components of 1 local",
               [&] { DefaultStrategy::instance().run(take, few); });
  EXPECT_EQ(
      four.run([](const auto& part) { return std::get<0>(part); }, std::tuple(per_replica<int>(four, {5, 6, 7, 8})))[3],
      8)
      << "works again";
}

TEST(Misuse, UpdatesWithValuesOfAnotherNumberOfReplicas) {
  MirroredStrategy two = mirrored(2);
  MirroredStrategy four = mirrored(4);
  const auto few = per_replica<Values>(two, {{1}, {2}});
  const auto scope = four.scope();
  const Variable<Values> v(Values{0});
  const auto never = [](const auto&... /*values*/) { ADD_FAILURE() << "was called"; };
  const char* const text = "2 components of 4 local";
  expect_error(ErrorCode::invalid_argument, text, [&] { four.extended().update(v, never, few); });
  const NonSlotDevices where = four.extended().non_slot_devices(v);
  expect_error(ErrorCode::invalid_argument, text, [&] { four.extended().update_non_slot(where, never, few); });
  expect_error(ErrorCode::invalid_argument, text, [&] { four.run([&] { four.extended().update(v, never, few); }); });
  const auto merge = [&](Strategy& /*merged*/) { return few; };
  expect_error(ErrorCode::invalid_argument, "merge_call: 2 components of 4 local",
               [&] { four.run([&] { return get_replica_context()->merge_call(merge); }); });
  const auto nested = [&](Strategy& /*merged*/) { return std::tuple(5, std::vector{few}); };
  expect_error(ErrorCode::invalid_argument, "merge_call: 2 components of 4 local",
               [&] { four.run([&] { std::ignore = get_replica_context()->merge_call(nested); }); });
}

TEST(Misuse, DevicesThatAreNotThere) {
  const Device missing(Device::Kind::cpu, 4095, {4095});
  const auto refused = [](const auto& make) { expect_error(ErrorCode::invalid_argument, "/cpu:4095", make); };
  refused([&] { MirroredStrategy({missing}); });
  refused([&] { MirroredStrategy({some_devices(1).front(), missing}); });
  refused([&] { CentralStorageStrategy({missing}); });
  refused([&] { CentralStorageStrategy(some_devices(1), missing); });
  refused([&] { OneDeviceStrategy{missing}; });
}

TEST_P(WithSeveralReplicas, ARunInTheFunctionOfAMergeCall) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto run_again = [](Strategy& merged) { merged.run([] { ADD_FAILURE() << "was called"; }); };
  expect_error(ErrorCode::wrong_context, "Strategy::run: called in the function of a merge_call",
               [&] { strategy.run([&] { get_replica_context()->merge_call(run_again); }); });
  EXPECT_EQ(strategy.run(id)[1], 1);
}

TEST(Misuse, ShapesThatAreNotTheVariables) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<Values> v(Values{1, 2}, {.name = "v", .aggregation = VariableAggregation::sum});
  const Values longer(3);
  const auto rejects = [](const std::string& place, const auto& write) {
    expect_error(ErrorCode::invalid_argument, place + ": it has the shape (2) and is given (3)", write);
  };
  rejects("Variable::assign of \"v\"", [&] { v.assign(longer); });
  rejects("Variable::assign_add of \"v\"", [&] { v.assign_add(longer); });
  rejects("Variable::assign of \"v\"", [&] { v.assign(per_replica<Values>(strategy, {{1, 2}, longer})); });
  rejects("Variable::assign_sub of \"v\"", [&] { v.assign_sub(per_replica<Values>(strategy, {{1, 2}, longer})); });
  const auto replica_1_writes_more = [&] { v.assign_sub(id() == 1 ? longer : Values{1, 2}); };
  rejects("Variable::assign_sub of \"v\" in replica 1", [&] { strategy.run(replica_1_writes_more); });
  for (const Values& each : v.components()) EXPECT_EQ(each, (Values{1, 2}));
}

TEST_P(WithReplicas, GradientsThatAreShorterThanTheirVariables) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<Values> v(Values(1000), {.name = "v"});
  Sgd optimizer{std::tuple{v}};
  try {
    strategy.run([&] { optimizer.apply_gradients({Values{1}}); });
    FAIL() << "no error";
  } catch (const Error& error) {  // of any replica, as each may be the first to see it
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), testing::ContainsRegex("apply_gradients of \"v\" in replica [0-7]: "
                                                     "it has the shape \\(1000\\) and is given \\(1\\)"));
  }
}

TEST(Misuse, WhatIsForOutsideOfTheReplicas) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<Values> v(Values{1});
  const auto values = per_replica<Values>(strategy, {{1}, {2}});
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "outside of the replicas", [&] { v.assign(values); });
    expect_error(ErrorCode::wrong_context, "outside of the replicas", [&] { v.assign_sub(values); });
    expect_error(ErrorCode::wrong_context, "reduce_to",
                 [&] { std::ignore = strategy.extended().reduce_to(ReduceOp::sum, values); });
    expect_error(ErrorCode::wrong_context, "batch_reduce_to",
                 [&] { std::ignore = strategy.extended().batch_reduce_to(ReduceOp::sum, std::vector{values}); });
    expect_error(ErrorCode::wrong_context, "broadcast_to", [&] { std::ignore = strategy.extended().broadcast_to(1); });
    expect_error(ErrorCode::wrong_context, "ContextSnapshot", [] { const ContextSnapshot snapshot; });
    expect_error(ErrorCode::wrong_context, "set_strategy", [] { set_strategy(nullptr); });
  });
}

TEST_P(WithSeveralReplicas, TwoThreadsThatRunAtTheSameTime) {
  MirroredStrategy strategy = mirrored(replicas());
  strategy.run([&] {
    if (id() != 0) return;
    std::thread([&] {
      expect_error(ErrorCode::invalid_argument, "one call at a time", [&] { strategy.run([] {}); });
    }).join();
  });
  EXPECT_EQ(strategy.run(id)[1], 1);
}

}  // namespace
}  // namespace chorus::test
