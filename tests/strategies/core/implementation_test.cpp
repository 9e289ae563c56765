// SPDX-License-Identifier: Apache-2.0
// What carries a reduction does not change it.
#include "core/every_collective.hpp"
#include "core/replicas.hpp"

#include <chorus/float16.hpp>
#include <chorus/strategies/strategy.hpp>

#include <chrono>
#include <memory>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;

TEST_P(WithReplicas, EveryImplementationReduces) {
  using Implementation = CommunicationImplementation;
  for (const Implementation implementation : {Implementation::automatic, Implementation::ring, Implementation::mpi}) {
    for (const bool reproducible : {false, true}) {
      SCOPED_TRACE(static_cast<int>(implementation));
      MirroredStrategy strategy =
          mirrored(replicas(), nullptr, {.implementation = implementation, .reproducible = reproducible});
      const auto sums = strategy.run(
          [] { return get_replica_context()->all_reduce(ReduceOp::sum, std::tuple(std::vector<float>(100, 1), 1)); });
      for (const auto& [floats, number] : sums.values()) {
        EXPECT_THAT(floats, Each(static_cast<float>(replicas())));
        EXPECT_EQ(number, replicas());
      }
    }
  }
}

TEST_P(WithReplicas, ANegativeTimeoutIsRefused) {
  const CommunicationOptions negative{.timeout = std::chrono::milliseconds(-1)};
  expect_error(ErrorCode::invalid_argument, "timeout is negative",
               [&] { std::ignore = mirrored(replicas(), nullptr, negative); });
  MirroredStrategy strategy = mirrored(replicas());
  expect_error(ErrorCode::invalid_argument, "timeout is negative", [&] {
    strategy.run([&] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1, negative); });
  });
}

TEST_P(WithReplicas, NoElementsAndNoTensors) {
  for (const int which : {0, 1, 2}) {
    std::unique_ptr<CrossDeviceOps> ops = std::make_unique<CollectiveAllReduce>();
    if (which == 1) ops = std::make_unique<ReductionToOneDevice>();
    if (which == 2) ops = std::make_unique<HierarchicalCopyAllReduce>();
    MirroredStrategy strategy = mirrored(replicas(), std::move(ops));
    const auto results = strategy.run([] {
      using Nothing = std::vector<std::vector<double>>;
      return std::tuple(get_replica_context()->all_reduce(ReduceOp::average, std::vector<float>{}),
                        get_replica_context()->all_reduce(ReduceOp::sum, Nothing{}),
                        get_replica_context()->all_reduce(ReduceOp::sum, Nothing(3)));
    });
    EXPECT_TRUE(std::get<0>(results[0]).empty());
    EXPECT_EQ(std::get<2>(results[0]).size(), 3U);
    const auto outside = strategy.reduce(ReduceOp::average, strategy.run([] { return std::vector<float>{}; }));
    EXPECT_TRUE(outside.empty());
    EXPECT_TRUE(strategy.gather(strategy.run([] { return std::vector<float>{}; }), 0).empty());
  }
}

TEST_P(WithReplicas, HalfPrecisionAverages) {
  for (const bool hierarchical : {false, true}) {
    MirroredStrategy strategy =
        mirrored(replicas(), hierarchical ? std::make_unique<HierarchicalCopyAllReduce>() : nullptr);
    const auto averages = strategy.run([] {
      return get_replica_context()->all_reduce(ReduceOp::average, std::vector<bfloat16_t>(10, bfloat16_t(3)));
    });
    for (const bfloat16_t each : averages[0]) EXPECT_EQ(static_cast<float>(each), 3.0F);
  }
}

TEST_P(WithReplicas, Case209_NoElementsAndSmallTypesInEveryCollective) {
  using Implementation = CommunicationImplementation;
  for (const Implementation implementation : {Implementation::automatic, Implementation::ring, Implementation::mpi}) {
    MirroredStrategy strategy = mirrored(replicas(), nullptr, {.implementation = implementation});
    expect_every_collective_of_small_types(strategy);
    expect_every_collective_of_bool(strategy);
  }
}

}  // namespace
}  // namespace chorus::test
