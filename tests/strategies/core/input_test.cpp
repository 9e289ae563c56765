// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/default_strategy.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(StrategyInput, Case92_BatchesAreDividedAmongTheReplicas) {
  MirroredStrategy strategy = mirrored(3);
  std::vector<std::vector<std::size_t>> sizes;
  for (const auto& step : strategy.distribute_dataset(range(25).batch(10))) {
    const auto own = strategy.run([](const auto& batch) { return batch.size(); }, step.batches());
    sizes.push_back({own.values().begin(), own.values().end()});
    EXPECT_EQ(step.global_size(), own[0] + own[1] + own[2]);
  }
  EXPECT_THAT(sizes, ElementsAre(ElementsAre(4, 3, 3), ElementsAre(4, 3, 3), ElementsAre(4, 1, 0)));
}

TEST(StrategyInput, Case95_AFunctionsBatchesAreTakenInTurn) {
  MirroredStrategy strategy = mirrored(2);
  const auto data = strategy.distribute_datasets_from_function([](const InputContext& context) {
    EXPECT_EQ(context.num_replicas_in_sync, 2);
    return range(9).batch(2);
  });
  auto iterator = data.iterate();
  EXPECT_THAT(iterator.next()->batches()[1], ElementsAre(2, 3));
  EXPECT_THAT(iterator.next()->batches()[0], ElementsAre(4, 5));
  EXPECT_THAT(iterator.next()->batches()[1], IsEmpty());
  EXPECT_FALSE(iterator.next());
}

TEST(StrategyInput, Case109_NotInAReplica) {
  MirroredStrategy strategy = mirrored(2);
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "distribute_dataset",
                 [&] { std::ignore = strategy.distribute_dataset(range(4).batch(2)); });
  });
  const auto data = strategy.distribute_dataset(range(4).batch(2));
  auto iterator = data.iterate();
  strategy.run([&] {
    const std::string who = "called in replica " + std::to_string(id()) + " of the mirrored strategy";
    expect_error(ErrorCode::wrong_context, "DistributedIterator::next: " + who, [&] { std::ignore = iterator.next(); });
    expect_error(ErrorCode::wrong_context, "DistributedDataset::begin: " + who, [&] { std::ignore = data.begin(); });
  });
  EXPECT_THAT(iterator.next()->batches()[0], ElementsAre(0)) << "nothing was taken";
  const auto in_a_merge = strategy.run([&] {
    return get_replica_context()->merge_call([&](Strategy& /*merged*/) { return iterator.next()->global_size(); });
  });
  EXPECT_EQ(in_a_merge[1], 2U);
  EXPECT_FALSE(iterator.next()) << "one step was taken for both replicas";
}

TEST(StrategyInput, Case110_ValuesFromAFunction) {
  MirroredStrategy strategy = mirrored(3);
  const std::vector<int> table{3, 2, 1};
  const auto values = strategy.distribute_values_from_function(
      [&](const ValueContext& context) { return table[static_cast<std::size_t>(context.replica_id_in_sync_group)]; });
  EXPECT_THAT(values.values(), ElementsAre(3, 2, 1));
  const auto counts = strategy.distribute_values_from_function(
      [](const ValueContext& context) { return context.num_replicas_in_sync; });
  EXPECT_THAT(strategy.run([](int x) { return 2 * x; }, counts).values(), ElementsAre(6, 6, 6));
}

TEST(StrategyInput, TheDefaultStrategyTakesWholeBatches) {
  int rows = 0;
  for (const auto& step : DefaultStrategy::instance().distribute_dataset(range(5).batch(2))) {
    rows += static_cast<int>(step.batches().get().size());
  }
  EXPECT_EQ(rows, 5);
}

}  // namespace
}  // namespace chorus::test
