// SPDX-License-Identifier: Apache-2.0
// What a program may do wrong, and what it is told: nothing of it reads or writes memory that is not its own.
#include "core/replicas.hpp"

#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <memory>
#include <thread>
#include <tuple>
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

TEST(Misuse, ShapesThatAreNotTheVariables) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<Values> v(Values{1, 2}, {.name = "v", .aggregation = VariableAggregation::sum});
  const Values longer(3);
  const char* const text = "\"v\": has the shape (2) and is given (3)";
  expect_error(ErrorCode::invalid_argument, text, [&] { v.assign(longer); });
  expect_error(ErrorCode::invalid_argument, text, [&] { v.assign_add(longer); });
  expect_error(ErrorCode::invalid_argument, text, [&] { v.assign(per_replica<Values>(strategy, {{1, 2}, longer})); });
  expect_error(ErrorCode::invalid_argument, text, [&] { strategy.run([&] { v.assign_sub(longer); }); });
  for (const Values& each : v.components()) EXPECT_EQ(each, (Values{1, 2}));
}

TEST(Misuse, GradientsThatAreShorterThanTheirVariables) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<Values> v(Values(1000), {.name = "v"});
  Sgd optimizer{std::tuple{v}};
  expect_error(ErrorCode::invalid_argument, "\"v\": has the shape (1000) and is given (1)",
               [&] { strategy.run([&] { optimizer.apply_gradients({Values{1}}); }); });
}

TEST(Misuse, WhatIsForOutsideOfTheReplicas) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<Values> v(Values{1});
  const auto values = per_replica<Values>(strategy, {{1}, {2}});
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "outside of the replicas", [&] { v.assign(values); });
    expect_error(ErrorCode::wrong_context, "reduce_to",
                 [&] { std::ignore = strategy.extended().reduce_to(ReduceOp::sum, values); });
    expect_error(ErrorCode::wrong_context, "batch_reduce_to",
                 [&] { std::ignore = strategy.extended().batch_reduce_to(ReduceOp::sum, std::vector{values}); });
    expect_error(ErrorCode::wrong_context, "broadcast_to", [&] { std::ignore = strategy.extended().broadcast_to(1); });
    expect_error(ErrorCode::wrong_context, "ContextSnapshot", [] { const ContextSnapshot snapshot; });
    expect_error(ErrorCode::wrong_context, "set_strategy", [] { set_strategy(nullptr); });
  });
}

TEST(Misuse, TwoThreadsThatRunAtTheSameTime) {
  MirroredStrategy strategy = mirrored(2);
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
