// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST_P(WithReplicas, Case83_ReducesToEveryReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto from = [&](int first) {
    return per_replica(strategy, list_of(replicas(), [=](int i) { return first + i; }));
  };
  const auto reduced = strategy.extended().reduce_to(ReduceOp::sum, from(1));
  EXPECT_EQ(reduced.values().size(), static_cast<std::size_t>(replicas()));
  EXPECT_THAT(reduced.values(), Each(sum_of_ids() + replicas()));
  EXPECT_EQ(reduced + 1, sum_of_ids() + replicas() + 1) << "stands for its value";
  const auto all = strategy.extended().batch_reduce_to(ReduceOp::max, std::vector{from(0), from(10), from(20)});
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(all[i].values(), Each(static_cast<int>(10 * i) + last()));
}

TEST_P(WithReplicas, BroadcastsToEveryReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto copies = strategy.extended().broadcast_to(std::vector<int>{4, 5});
  EXPECT_EQ(copies.values().size(), static_cast<std::size_t>(replicas()));
  EXPECT_THAT(copies.values(), Each(ElementsAre(4, 5)));
}

TEST(Extended, TheDefaultStrategyGivesWhatItGets) {
  Strategy& strategy = DefaultStrategy::instance();
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, 5), 5);
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, per_replica<int>(strategy, {5})), 5);
  EXPECT_THAT(strategy.gather(per_replica<std::vector<int>>(strategy, {{1, 2}}), 0), ElementsAre(1, 2));
  EXPECT_THAT(strategy.local_results(7), ElementsAre(7));
}

/// The largest component, whatever is asked for.
class Largest final : public CrossDeviceOps {
 public:
  explicit Largest(int& calls) : calls_(calls) {}

 protected:
  void batch_reduce_implementation(ReplicaGroup& /*group*/, ReduceOp /*op*/, std::span<const ReplicaTensors> values,
                                   const CommunicationOptions& /*options*/) override {
    ++calls_;
    for (const ReplicaTensors& components : values) {
      int largest = 0;
      for (const TensorRef& component : components) {
        int value = 0;
        std::memcpy(&value, component.data, sizeof value);
        largest = std::max(largest, value);
      }
      for (const TensorRef& component : components) std::memcpy(component.data, &largest, sizeof largest);
    }
  }

 private:
  int& calls_;
};

TEST_P(WithReplicas, AUsersOpsReduceInAndOutsideOfTheReplicas) {
  int calls = 0;
  MirroredStrategy strategy = mirrored(replicas(), std::make_unique<Largest>(calls));
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, strategy.run([] { return 5 * id(); })), 5 * last());
  const auto inside = strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 7 * id()); });
  EXPECT_THAT(inside.values(), Each(7 * last()));
  EXPECT_EQ(calls, replicas() == 1 ? 0 : 2) << "what one replica has is its own sum";
}

TEST(Extended, TensorsOfTheHostGoWithoutNccl) {
  const CommunicationOptions nccl{.implementation = communication_implementation("NCCL")};
  MirroredStrategy asks = mirrored(3, nullptr, nccl);
  EXPECT_EQ(asks.reduce(ReduceOp::sum, asks.run([] { return id() + 1; })), 6);
  MirroredStrategy has = mirrored(3, std::make_unique<NcclAllReduce>());
  testing::internal::CaptureStderr();
  for (int time = 0; time < 2; ++time) {
    const auto sums = has.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, id() + 1); });
    EXPECT_THAT(sums.values(), Each(6));
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  EXPECT_THAT(text, testing::HasSubstr("NcclAllReduce: tensors of the host do not go by NCCL"));
}

TEST(Extended, CallsOfTheLowerLevelAreThoseOfTheStrategy) {
  MirroredStrategy strategy = mirrored(2);
  MirroredStrategy other = mirrored(2);
  const auto scope = strategy.scope();
  const auto ids = strategy.extended().call_for_each_replica([](int add) { return id() + add; },
                                                             per_replica<int>(strategy, {10, 20}));
  EXPECT_THAT(ids.values(), ElementsAre(10, 21));
  strategy.extended().call_for_each_replica([] { std::ignore = id(); });
  const Variable<double> v(2, {.aggregation = VariableAggregation::sum});
  EXPECT_EQ(strategy.extended().read_var(v), 2);
  const Variable<double> on_read(
      1, {.synchronization = VariableSynchronization::on_read, .aggregation = VariableAggregation::sum});
  EXPECT_EQ(strategy.extended().read_var(on_read), 2) << "the sum of both components";
  EXPECT_EQ(strategy.run([&] { return strategy.extended().read_var(on_read); })[1], 1);
  expect_error(ErrorCode::invalid_argument,
               "StrategyExtended::read_var: called on the mirrored strategy with the variable",
               [&] { std::ignore = other.extended().read_var(v); });
}

TEST(Extended, Case7_StrategiesDoNotMixInTheLowerLevel) {
  MirroredStrategy strategy = mirrored(2);
  MirroredStrategy other = mirrored(2);
  std::optional<Variable<double>> v;
  {
    const auto scope = strategy.scope();
    v.emplace(1.0);
  }
  StrategyExtended& extended = strategy.extended();
  const auto ones = strategy.run([] { return 1; });
  const NonSlotDevices where = extended.non_slot_devices(*v);
  const auto never = [](const auto&... /*values*/) { ADD_FAILURE() << "was called"; };
  const auto expect_refused = [&](const auto& call) {
    expect_error(ErrorCode::wrong_context, "mixing different strategy objects", [&] {
      const auto scope = other.scope();
      call();
    });
    expect_error(ErrorCode::wrong_context, "mixing different strategy objects", [&] {
      const auto scope = DefaultStrategy::instance().scope();
      call();
    });
    expect_error(ErrorCode::wrong_context, "called in a replica of the mirrored strategy", [&] { other.run(call); });
  };
  expect_refused([&] { std::ignore = extended.reduce_to(ReduceOp::sum, ones); });
  expect_refused([&] { std::ignore = extended.batch_reduce_to(ReduceOp::sum, std::vector{ones}); });
  expect_refused([&] { std::ignore = extended.broadcast_to(1); });
  expect_refused([&] { extended.update(*v, never); });
  expect_refused([&] { extended.update_non_slot(where, never); });
  expect_refused([&] { std::ignore = extended.colocate_vars_with(*v); });
}

TEST_P(WithReplicas, Case130_UpdatesOutsideOfScopesAreInTheContextOfTheStrategy) {
  MirroredStrategy strategy = mirrored(replicas());
  std::optional<Variable<double>> v;
  {
    const auto scope = strategy.scope();
    v.emplace(1.0);
  }
  const auto in_context = [&](const auto&... /*component*/) {
    return &get_strategy() == &strategy && in_cross_replica_context() && get_replica_context() == nullptr ? 1 : 0;
  };
  const std::vector<int> of_each(static_cast<std::size_t>(replicas()), 1);
  EXPECT_EQ(strategy.extended().update(*v, in_context), of_each);
  const NonSlotDevices where = strategy.extended().non_slot_devices(*v);
  EXPECT_EQ(strategy.extended().update_non_slot(where, in_context), of_each);
  EXPECT_FALSE(has_strategy()) << "as before";
  const Variable<double> plain(1.0);
  const auto of_default = [&](const double& /*component*/) {
    return &get_strategy() == &DefaultStrategy::instance() && get_replica_context() == nullptr;
  };
  EXPECT_THAT(DefaultStrategy::instance().extended().update(plain, of_default), ElementsAre(true));
}

TEST_P(WithReplicas, Case131_VariablesAreColocatedOutsideOfScopes) {
  MirroredStrategy strategy = mirrored(replicas());
  std::optional<Variable<double>> v;
  {
    const auto scope = strategy.scope();
    v.emplace(1.0);
  }
  const auto scope = strategy.extended().colocate_vars_with(*v);
  const Variable<double> beside(0.0);
  EXPECT_EQ(&beside.strategy(), &strategy);
  EXPECT_EQ(beside.components().size(), static_cast<std::size_t>(replicas()));
}

}  // namespace
}  // namespace chorus::test
