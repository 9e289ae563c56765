// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/one_device_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace chorus::test {
namespace {

void expect_default_state() {
  EXPECT_EQ(&get_strategy(), &DefaultStrategy::instance());
  EXPECT_FALSE(has_strategy());
  EXPECT_FALSE(in_cross_replica_context());
  ASSERT_NE(get_replica_context(), nullptr);
  EXPECT_EQ(get_replica_context()->replica_id_in_sync_group(), 0);
  EXPECT_EQ(get_replica_context()->num_replicas_in_sync(), 1);
}

TEST(Context, Case1_OutsideOfEveryScopeIsTheDefaultReplica) { expect_default_state(); }

TEST_P(WithReplicas, Case2_AScopeIsCrossReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  EXPECT_EQ(&get_strategy(), &strategy);
  EXPECT_TRUE(has_strategy());
  EXPECT_TRUE(in_cross_replica_context());
  EXPECT_EQ(get_replica_context(), nullptr);
}

TEST_P(WithReplicas, Case3_ARunIsOfAReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto seen = strategy.run([&] {
    return &get_strategy() == &strategy && has_strategy() && !in_cross_replica_context() &&
           &get_replica_context()->strategy() == &strategy &&
           get_replica_context()->num_replicas_in_sync() == replicas();
  });
  EXPECT_THAT(seen.values(), testing::Each(true));
}

TEST_P(WithReplicas, Case4_AMergeFunctionIsCrossReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  strategy.run([&] {
    get_replica_context()->merge_call([&](Strategy& given) {
      EXPECT_EQ(&given, &strategy);
      EXPECT_TRUE(in_cross_replica_context());
      EXPECT_EQ(get_replica_context(), nullptr);
    });
    EXPECT_NE(get_replica_context(), nullptr);
  });
}

TEST(Context, Case5_TheDefaultReplicaMergesAtOnce) {
  int calls = 0;
  const int result = get_replica_context()->merge_call(
      [&](Strategy& strategy, const PerReplica<int>& value) {
        ++calls;
        EXPECT_EQ(&strategy, &DefaultStrategy::instance());
        EXPECT_TRUE(in_cross_replica_context());
        EXPECT_FALSE(has_strategy());
        return value.get() + 1;
      },
      std::tuple(7));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(result, 8);
  expect_default_state();
}

TEST(Context, Case7_StrategiesDoNotMix) {
  MirroredStrategy outer = mirrored(2);
  MirroredStrategy inner = mirrored(2);
  const auto scope = outer.scope();
  expect_error(ErrorCode::wrong_context, "mixing different strategy objects", [&] { std::ignore = inner.scope(); });
  expect_error(ErrorCode::wrong_context, "mixing", [&] { inner.run([] {}); });
  expect_error(ErrorCode::wrong_context, "mixing", [] { std::ignore = DefaultStrategy::instance().scope(); });
  EXPECT_EQ(&get_strategy(), &outer);
  const auto again = outer.scope();
  EXPECT_EQ(&get_strategy(), &outer);
}

TEST_P(WithReplicas, Case8_AReplicaEntersNoScope) {
  MirroredStrategy strategy = mirrored(replicas());
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "merge_call", [&] { std::ignore = strategy.scope(); });
    expect_error(ErrorCode::wrong_context, "replicas cannot run others", [&] { strategy.run([] {}); });
  });
}

TEST(Context, Case10_TheDefaultScopeTakesNoOther) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = DefaultStrategy::instance().scope();
  EXPECT_FALSE(has_strategy());
  EXPECT_FALSE(in_cross_replica_context());
  expect_error(ErrorCode::wrong_context, "mixing", [&] { std::ignore = strategy.scope(); });
}

TEST(Context, AStrategyThatEndsIsSetNoLonger) {
  {
    MirroredStrategy strategy = mirrored(2);
    set_strategy(&strategy);
    EXPECT_TRUE(has_strategy());
  }
  EXPECT_FALSE(has_strategy());
}

TEST(Context, AStrategyThatEndsInItsScopeLeavesTheDefaultOne) {
  auto strategy = std::make_unique<MirroredStrategy>(shared_devices(2));
  {
    const auto scope = strategy->scope();
    strategy.reset();
    EXPECT_FALSE(has_strategy());
    EXPECT_EQ(get_strategy().name(), DefaultStrategy::instance().name());
    EXPECT_EQ(get_replica_context()->num_replicas_in_sync(), 1);
    EXPECT_THROW(set_strategy(nullptr), Error) << "still inside of a scope";
  }
  expect_default_state();
}

TEST(Context, Case11_SetStrategyLastsUntilAnother) {
  MirroredStrategy first = mirrored(1);
  MirroredStrategy second = mirrored(1);
  set_strategy(&first);
  EXPECT_EQ(&get_strategy(), &first);
  EXPECT_TRUE(in_cross_replica_context());
  set_strategy(&second);
  EXPECT_EQ(&get_strategy(), &second);
  set_strategy(nullptr);
  expect_default_state();
}

TEST(Context, Case12_SetStrategyIsForTheOutermostLevel) {
  MirroredStrategy strategy = mirrored(1);
  const auto scope = strategy.scope();
  expect_error(ErrorCode::wrong_context, "must not be called inside of a scope", [&] { set_strategy(&strategy); });
}

TEST(Context, Case13_ASetStrategyMixesWithNoOther) {
  MirroredStrategy first = mirrored(1);
  MirroredStrategy second = mirrored(1);
  set_strategy(&first);
  expect_error(ErrorCode::wrong_context,
               "Strategy::scope: mixing different strategy objects: the mirrored strategy is used in the scope of "
               "another mirrored strategy (a second object of its kind): leave that scope first",
               [&] { std::ignore = second.scope(); });
  { const auto scope = first.scope(); }
  set_strategy(nullptr);
}

TEST(Context, Case14_AThreadBeginsInTheDefaultState) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  std::thread(expect_default_state).join();
  const ContextSnapshot snapshot;
  std::thread([&] {
    const ContextGuard guard(snapshot.context());
    EXPECT_EQ(&get_strategy(), &strategy);
    EXPECT_TRUE(in_cross_replica_context());
  }).join();
}

TEST(Context, ThreadsShareTheDefaultStrategy) {
  const auto use = [] {
    Mean mean;
    mean.update_state(std::vector<double>{1, 3});
    for (int i = 0; i < 100; ++i) EXPECT_EQ(mean.result(), 2);
  };
  std::thread other(use);
  use();
  other.join();
}

TEST(Context, ASnapshotOfAMergeFunctionIsOfUseAfterItsRun) {
  MirroredStrategy strategy = mirrored(2);
  std::unique_ptr<ContextSnapshot> snapshot;
  strategy.run({.communication = {.timeout = std::chrono::seconds(60)}}, [&] {
    get_replica_context()->merge_call([&](Strategy&) { snapshot = std::make_unique<ContextSnapshot>(); });
  });
  EXPECT_EQ(snapshot->context().options, nullptr) << "they ended with the run";
  std::thread([&] {
    const ContextGuard guard(snapshot->context());
    EXPECT_TRUE(in_cross_replica_context());
    EXPECT_EQ(strategy.extended().communication_options(), CommunicationOptions{});
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, strategy.run([] { return 1; })), 2);
  }).join();
}

TEST(Context, Case16_AnExceptionRestoresWhatWasBefore) {
  MirroredStrategy strategy = mirrored(2);
  try {
    const auto scope = strategy.scope();
    throw std::runtime_error("out of the scope");
  } catch (const std::runtime_error&) {
    expect_default_state();
  }
  EXPECT_THROW(strategy.run([] { throw std::runtime_error("out of a replica"); }), std::runtime_error);
  expect_default_state();
}

TEST(Context, Case17_StrategiesAreNotCopied) {
  static_assert(!std::is_copy_constructible_v<MirroredStrategy> && !std::is_copy_assignable_v<MirroredStrategy>);
  static_assert(!std::is_default_constructible_v<DefaultStrategy>, "there is one only");
}

TEST(Context, OneDeviceHasAScopeAndTheDefaultStrategyNoDevices) {
  OneDeviceStrategy strategy(some_devices(1).front());
  {
    const auto scope = strategy.scope();
    EXPECT_TRUE(in_cross_replica_context());
  }
  EXPECT_EQ(strategy.extended().worker_devices().size(), 1U);
  expect_error(ErrorCode::invalid_argument, "/cpu:99999",
               [] { OneDeviceStrategy{Device(Device::Kind::cpu, 99999, {99999})}; });
  expect_error(ErrorCode::wrong_context, "no devices",
               [] { std::ignore = DefaultStrategy::instance().extended().worker_devices(); });
}

TEST(Context, Case20_AReplicaOfAnotherStrategyIsNotThisOne) {
  MirroredStrategy strategy = mirrored(1);
  MirroredStrategy other = mirrored(1);
  strategy.run([&] {
    ReplicaContext* const mine = get_replica_context();
    std::thread([&] {
      other.run([&] {
        expect_error(ErrorCode::wrong_context, "not replica 0 of the mirrored strategy",
                     [&] { std::ignore = mine->all_reduce(ReduceOp::sum, 1); });
        expect_error(ErrorCode::wrong_context, "merge_call", [&] { mine->merge_call([](Strategy&) {}); });
      });
    }).join();
  });
}

TEST(Context, Case19_ScopesEndInTheOrderInWhichTheyCameByTheirTypes) {
  static_assert(!std::is_copy_constructible_v<ContextGuard> && !std::is_move_constructible_v<ContextGuard>);
  static_assert(!std::is_copy_assignable_v<ContextGuard> && !std::is_move_assignable_v<ContextGuard>);
}

}  // namespace
}  // namespace chorus::test
