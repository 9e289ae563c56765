// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/default_strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Extended, Case83_ReducesToEveryReplica) {
  MirroredStrategy strategy = mirrored(3);
  const auto reduced = strategy.extended().reduce_to(ReduceOp::sum, per_replica<int>(strategy, {1, 2, 3}));
  EXPECT_THAT(reduced.values(), Each(6));
  EXPECT_EQ(reduced + 1, 7) << "stands for its value";
  std::vector<PerReplica<int>> several;
  for (const int i : {0, 10, 20}) several.push_back(per_replica<int>(strategy, {i, i + 1, i + 2}));
  const auto all = strategy.extended().batch_reduce_to(ReduceOp::max, several);
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(all[i].values(), Each(static_cast<int>(10 * i + 2)));
}

TEST(Extended, BroadcastsToEveryReplica) {
  MirroredStrategy strategy = mirrored(3);
  const auto copies = strategy.extended().broadcast_to(std::vector<int>{4, 5});
  for (const auto& each : copies.values()) EXPECT_THAT(each, ElementsAre(4, 5));
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

TEST(Extended, AUsersOpsReduceInAndOutsideOfTheReplicas) {
  int calls = 0;
  MirroredStrategy strategy = mirrored(3, std::make_unique<Largest>(calls));
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, strategy.run([] { return 5 * id(); })), 10);
  const auto inside = strategy.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 7 * id()); });
  EXPECT_THAT(inside.values(), Each(14));
  EXPECT_EQ(calls, 2);
}

TEST(Extended, NcclIsNotBuilt) {
  expect_error(ErrorCode::not_built, "without NCCL", [] { NcclAllReduce(); });
}

}  // namespace
}  // namespace chorus::test
