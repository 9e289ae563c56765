// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/default_strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;

TEST_P(WithReplicas, Case92_BatchesAreDividedAmongTheReplicas) {
  MirroredStrategy strategy = mirrored(replicas());
  using Numbers = std::vector<std::int64_t>;
  for (const std::size_t batch : {8U, 10U, 25U}) {
    // Each batch is divided; the rows that are left at the end fill the shares of the first replicas.
    std::int64_t next = 0;
    for (const auto& step : strategy.distribute_dataset(range(25).batch(batch))) {
      const std::int64_t first = next;
      const auto expected = list_of(replicas(), [&](int i) {
        const auto n = static_cast<std::size_t>(replicas());
        const std::size_t share = batch / n + (static_cast<std::size_t>(i) < batch % n ? 1 : 0);
        Numbers rows;
        while (rows.size() < share && next < 25) rows.push_back(next++);
        return rows;
      });
      EXPECT_EQ(strategy.local_results(strategy.run([](const Numbers& rows) { return rows; }, step.batches())),
                expected);
      EXPECT_EQ(step.global_size(), static_cast<std::size_t>(next - first));
    }
    EXPECT_EQ(next, 25);
  }
}

TEST_P(WithReplicas, Case95_AFunctionsBatchesAreTakenInTurn) {
  MirroredStrategy strategy = mirrored(replicas());
  using Numbers = std::vector<std::int64_t>;
  const auto data = strategy.distribute_datasets_from_function([](const InputContext& context) {
    EXPECT_EQ(context, (InputContext{1, 0, replicas()}));
    return range(9).batch(2);
  });
  std::int64_t next = 0;
  for (const auto& step : data) {
    const auto expected = list_of(replicas(), [&](int /*i*/) {
      Numbers rows;
      while (rows.size() < 2 && next < 9) rows.push_back(next++);
      return rows;
    });
    EXPECT_EQ(strategy.local_results(step.batches()), expected);
  }
  EXPECT_EQ(next, 9) << "the last with fewer rows, or none";
  const auto dropped = strategy.distribute_datasets_from_function(
      [](const InputContext&) { return range(9).batch(2, Remainder::drop); });
  std::size_t rows = 0;
  for (const auto& step : dropped) rows += step.global_size();
  EXPECT_EQ(rows, 8U);
}

TEST_P(WithReplicas, Case109_NotInAReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto batches = range(2 * replicas()).batch(static_cast<std::size_t>(replicas()));
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "distribute_dataset",
                 [&] { std::ignore = strategy.distribute_dataset(batches); });
  });
  const auto data = strategy.distribute_dataset(batches);
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
  EXPECT_THAT(in_a_merge.values(), testing::Each(static_cast<std::size_t>(replicas())));
  EXPECT_FALSE(iterator.next()) << "one step was taken for all replicas";
  EXPECT_FALSE(iterator.next());
}

TEST_P(WithReplicas, Case110_ValuesFromAFunction) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto values = strategy.distribute_values_from_function(
      [](const ValueContext& context) { return replicas() - context.replica_id_in_sync_group; });
  EXPECT_EQ(strategy.local_results(values), list_of(replicas(), [](int i) { return replicas() - i; }));
  const auto counts = strategy.distribute_values_from_function(
      [](const ValueContext& context) { return context.num_replicas_in_sync; });
  EXPECT_THAT(strategy.run([](int x) { return 2 * x; }, counts).values(), testing::Each(2 * replicas()));
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
