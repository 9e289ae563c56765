// SPDX-License-Identifier: Apache-2.0
#include "strategies/input/collect.hpp"
#include "strategies/input/workers.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/dataset.hpp>
#include <chorus/strategies/distributed_dataset.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using test::epochs_of;
using test::epochs_of_function;
using test::rejection;
using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;
using Step = std::vector<Numbers>;
using Numbered = DistributedDataset<Numbers>;

static_assert(std::ranges::input_range<Numbered>);

/// The same batches, of which the description tells no length.
Dataset<Numbers> of_unknown_length(const Dataset<Numbers>& dataset) { return dataset.with_batch_size(std::nullopt); }

TEST(DistributedDataset, Case88ContextsNameTheirPipeline) {
  const InputContext context{3, 1, 3};
  EXPECT_THAT(to_string(context), HasSubstr("input pipeline id 1, total: 3"));
  EXPECT_EQ(context.per_replica_batch_size(9), 3U);
  const std::string text = rejection([&] { static_cast<void>(context.per_replica_batch_size(8)); });
  EXPECT_THAT(text, HasSubstr("8 rows"));
  EXPECT_THAT(text, HasSubstr("3 replicas"));
}

TEST(DistributedDataset, Case92OneWorkerSplitsEachBatch) {
  const auto epoch = epochs_of(range(25).batch(10), 1, 3)[0];
  EXPECT_THAT(epoch.steps,
              ElementsAre(Step{{0, 1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, Step{{10, 11, 12, 13}, {14, 15, 16}, {17, 18, 19}},
                          Step{{20, 21, 22, 23}, {24}, {}}));
  EXPECT_THAT(epoch.global_sizes, ElementsAre(10, 10, 5));
}

TEST(DistributedDataset, Case94SplitsUnevenBatches) {
  const auto epoch = epochs_of(range(14).batch(7), 1, 4)[0];
  EXPECT_THAT(epoch.steps, ElementsAre(Step{{0, 1}, {2, 3}, {4, 5}, {6}}, Step{{7, 8}, {9, 10}, {11, 12}, {13}}));
}

TEST(DistributedDataset, Case95AFunctionsBatchesComeInTurn) {
  const auto make = [](const InputContext&) { return range(9).batch(2); };
  EXPECT_THAT(epochs_of_function<Numbers>(make, 1, 2)[0].steps,
              ElementsAre(Step{{0, 1}, {2, 3}}, Step{{4, 5}, {6, 7}}, Step{{8}, {}}));
  const auto dropped = [](const InputContext&) { return range(9).batch(2, Remainder::drop); };
  EXPECT_THAT(epochs_of_function<Numbers>(dropped, 1, 2)[0].steps,
              ElementsAre(Step{{0, 1}, {2, 3}}, Step{{4, 5}, {6, 7}}));
}

TEST(DistributedDataset, Case97AFunctionDividesItself) {
  const auto all = [](const InputContext&) { return range(4).batch(2); };
  for (const auto& epoch : epochs_of_function<Numbers>(all, 2, 1)) {
    EXPECT_THAT(epoch.steps, ElementsAre(Step{{0, 1}}, Step{{2, 3}}));
    EXPECT_THAT(epoch.global_sizes, ElementsAre(4, 4));
  }
  const auto own = [](const InputContext& context) {
    return range(4).batch(2).shard(static_cast<std::size_t>(context.num_input_pipelines),
                                   static_cast<std::size_t>(context.input_pipeline_id));
  };
  const auto epochs = epochs_of_function<Numbers>(own, 2, 1);
  EXPECT_THAT(epochs[0].steps, ElementsAre(Step{{0, 1}}));
  EXPECT_THAT(epochs[1].steps, ElementsAre(Step{{2, 3}}));
}

TEST(DistributedDataset, Case98DataGivesEachWorkerItsSlices) {
  for (const bool known : {true, false}) {
    const auto batches = range(9).batch(2);
    const auto epochs =
        epochs_of(known ? batches : of_unknown_length(batches), 2, 1, {.shard_policy = AutoShardPolicy::data});
    EXPECT_THAT(epochs[0].steps, ElementsAre(Step{{0}}, Step{{2}}, Step{{4}}, Step{{6}}, Step{{8}}));
    EXPECT_THAT(epochs[1].steps, ElementsAre(Step{{1}}, Step{{3}}, Step{{5}}, Step{{7}}, Step{{}}));
    EXPECT_THAT(epochs[0].global_sizes, ElementsAre(2, 2, 2, 2, 1));
    EXPECT_EQ(epochs[0].global_sizes, epochs[1].global_sizes);
  }
}

TEST(DistributedDataset, DataGivesTheSameSlicesToAsManyReplicasOfAnyNumberOfWorkers) {
  for (const std::int64_t rows : {18, 23, 24}) {  // the last batch has 2, 7 and 8
    std::vector<std::multiset<Numbers>> steps_of_one;
    for (const auto& [workers, local] : {std::pair(1, 4), std::pair(2, 2), std::pair(4, 1)}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(workers) + " workers");
      std::vector<std::multiset<Numbers>> steps(3);
      for (const auto& epoch :
           epochs_of(range(rows).batch(8), workers, local, {.shard_policy = AutoShardPolicy::data})) {
        ASSERT_EQ(epoch.steps.size(), steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) steps[i].insert(epoch.steps[i].begin(), epoch.steps[i].end());
      }
      if (workers == 1) steps_of_one = steps;
      EXPECT_EQ(steps, steps_of_one);
    }
  }
  const auto one = epochs_of(range(10).batch(8), 1, 4, {.shard_policy = AutoShardPolicy::data});
  EXPECT_THAT(one[0].steps, ElementsAre(Step{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, Step{{8}, {9}, {}, {}}));
  EXPECT_THAT(one[0].global_sizes, ElementsAre(8, 2));
}

TEST(DistributedDataset, Case100OffGivesAllDataToEveryWorker) {
  const InputOptions off{.shard_policy = AutoShardPolicy::off};
  for (const auto& epoch : epochs_of(range(12).batch(8), 2, 1, off)) {
    EXPECT_THAT(epoch.steps, ElementsAre(Step{{0, 1, 2, 3}}, Step{{4, 5, 6, 7}}, Step{{8, 9, 10, 11}}));
    EXPECT_THAT(epoch.global_sizes, ElementsAre(8, 8, 8));
  }
  for (const auto& epoch : epochs_of(of_unknown_length(range(12).batch(8)), 2, 1, off)) {
    EXPECT_THAT(epoch.steps, ElementsAre(Step{{0, 1, 2, 3}}, Step{{4, 5, 6, 7}}, Step{{8, 9}}, Step{{10, 11}}));
  }
}

TEST(DistributedDataset, Case104WhereThereAreNoFiles) {
  const InputOptions file{.shard_policy = AutoShardPolicy::file};
  EXPECT_THAT(rejection([&] { epochs_of(range(9).batch(2), 2, 1, file); }), HasSubstr("reads no files"));
  std::atomic<int> warnings = 0;
  InputOptions options{.warn = [&](const std::string&) { ++warnings; }};
  EXPECT_EQ(epochs_of(range(9).batch(2), 2, 1, options),
            epochs_of(range(9).batch(2), 2, 1, {.shard_policy = AutoShardPolicy::data}));
  EXPECT_EQ(warnings, 1);
  options.shard_policy = AutoShardPolicy::off;
  epochs_of(range(9).batch(2), 2, 1, options);
  EXPECT_EQ(warnings, 1);
  options.shard_policy = AutoShardPolicy::hint;
  for (const auto& epoch : epochs_of(range(8).batch(4), 2, 1, options)) {
    EXPECT_THAT(epoch.steps, ElementsAre(Step{{0, 1}}, Step{{2, 3}}, Step{{4, 5}}, Step{{6, 7}}));
  }
  EXPECT_EQ(warnings, 2);
}

TEST(DistributedDataset, WarningsArePrintedOnce) {
  testing::internal::CaptureStderr();
  epochs_of(range(9).batch(2), 3, 1);
  epochs_of(range(9).batch(2), 2, 1);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::StartsWith("chorus: warning: the dataset reads no files"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(DistributedDataset, HintsAreWhereDataAreDivided) {
  const InputOptions hint{.shard_policy = AutoShardPolicy::hint};
  const auto epochs = epochs_of(range(8).shard(ShardHint{}).batch(4), 2, 1, hint);
  EXPECT_THAT(epochs[0].steps, ElementsAre(Step{{0, 2}}, Step{{4, 6}}));
  EXPECT_THAT(epochs[1].steps, ElementsAre(Step{{1, 3}}, Step{{5, 7}}));
  EXPECT_THAT(rejection([&] { epochs_of(range(1).shard(ShardHint{}).batch(4), 2, 1, hint); }),
              HasSubstr("worker 1 could not read"));
  const auto endless = range(1).shard(ShardHint{}).repeat().batch(4);
  const std::vector<std::string> told = test::on_workers(2, 1, [&](const ReplicaLayout& layout, const auto& comm) {
    auto iterator = Numbered(endless, layout, comm, hint).iterate();
    return rejection([&] { static_cast<void>(iterator.next()); });
  });
  EXPECT_THAT(told, ElementsAre(HasSubstr("worker 1 could not read"), HasSubstr("nothing is left for shard 1 of 2")));
  for (const auto& epoch :
       epochs_of(range(4).shard(ShardHint{}).batch(4), 2, 1, {.shard_policy = AutoShardPolicy::off})) {
    EXPECT_THAT(epoch.steps, ElementsAre(Step{{0, 1}}, Step{{2, 3}}));
  }
}

TEST(DistributedDataset, Case106MustBeBatched) {
  const auto vectors = range(4).map([](std::int64_t i) { return Numbers{i}; });
  EXPECT_THAT(rejection([&] { static_cast<void>(Numbered(vectors, {})); }), HasSubstr("call batch"));
  static_assert(!BatchStructure<std::int64_t> && !BatchStructure<Row<Numbers>>);
}

TEST(DistributedDataset, Case107TheShorterWorkerGetsAnEmptyBatch) {
  const auto make = [](const InputContext& context) { return range(context.input_pipeline_id == 0 ? 8 : 9).batch(2); };
  const auto epochs = epochs_of_function<Numbers>(make, 2, 1);
  EXPECT_THAT(epochs[0].steps, ElementsAre(Step{{0, 1}}, Step{{2, 3}}, Step{{4, 5}}, Step{{6, 7}}, Step{{}}));
  EXPECT_THAT(epochs[1].steps, ElementsAre(Step{{0, 1}}, Step{{2, 3}}, Step{{4, 5}}, Step{{6, 7}}, Step{{8}}));
  EXPECT_THAT(epochs[0].global_sizes, ElementsAre(4, 4, 4, 4, 1));
  EXPECT_EQ(epochs[0].global_sizes, epochs[1].global_sizes);
}

TEST(DistributedDataset, Case109IsEmptyAfterItsEnd) {
  auto iterator = Numbered(range(4).batch(4), {1, 0, 2}).iterate();
  EXPECT_TRUE(iterator.next());
  EXPECT_FALSE(iterator.next());
  EXPECT_FALSE(iterator.next());
}

TEST(DistributedDataset, Case110ValuesFromFunctions) {
  const int numbers[] = {3, 2, 1};
  const auto value = [&](const ValueContext& context) { return numbers[context.replica_id_in_sync_group]; };
  EXPECT_THAT(values_from_function({1, 0, 1}, value).values(), ElementsAre(3));
  EXPECT_THAT(values_from_function({1, 0, 3}, value).values(), ElementsAre(3, 2, 1));
  EXPECT_THAT(values_from_function({3, 1, 1}, value).values(), ElementsAre(2));
  const auto replicas = [](const ValueContext& context) { return context.num_replicas_in_sync; };
  EXPECT_THAT(values_from_function({1, 0, 2}, replicas).values(), ElementsAre(2, 2));
}

TEST(DistributedDataset, Case110aAFunctionBatchesByItsContext) {
  const auto make = [](const InputContext& context) {
    return make_array_dataset(Tensor<float, 3>({1, 1, 1}, {1}))
        .repeat()
        .batch(context.per_replica_batch_size(8))
        .shard(static_cast<std::size_t>(context.num_input_pipelines),
               static_cast<std::size_t>(context.input_pipeline_id));
  };
  using Batches = DistributedDataset<Tensor<float, 3>>;
  const auto one = Batches::from_function(make, {1, 0, 1});
  EXPECT_EQ((*one.begin()).batches().get().shape(), (Shape{8, 1, 1}));
  EXPECT_EQ(one.cardinality(), Cardinality::infinite());
  const auto two = Batches::from_function(make, {1, 0, 2}).iterate().next();
  for (const auto& batch : two->batches().values()) EXPECT_EQ(batch.shape(), (Shape{4, 1, 1}));
  EXPECT_EQ(two->global_size(), 8U);
  EXPECT_THAT(rejection([&] { static_cast<void>(Batches::from_function(make, {1, 0, 3})); }), HasSubstr("8 rows"));
}

TEST(DistributedDataset, Case112ArraysMakeGlobalBatches) {
  const auto epoch = epochs_of(make_array_dataset(std::vector<float>(10, 1)).batch(2), 1, 2)[0];
  EXPECT_EQ(epoch.steps, std::vector(5, std::vector<std::vector<float>>{{1}, {1}}));
}

TEST(DistributedDataset, Case113KnowsTheRowsThatNeverVary) {
  const auto rows = [](const Dataset<Numbers>& dataset) { return Numbered(dataset, {1, 0, 2}).batch_rows(); };
  EXPECT_EQ(rows(range(9).batch(2)), std::nullopt);
  EXPECT_EQ(rows(range(9).batch(2, Remainder::drop)), 1U);
  EXPECT_EQ(rows(range(9).batch(3, Remainder::drop)), std::nullopt);
  EXPECT_EQ(rows(range(8).batch(2)), 1U);
  EXPECT_EQ(rows(range(9).repeat().batch(6)), 3U);
  EXPECT_EQ(rows(of_unknown_length(range(8).batch(2))), std::nullopt);
}

TEST(DistributedDataset, MakesADatasetForEachReplicaWhereAsked) {
  const InputOptions each{.replication_mode = InputReplicationMode::per_replica};
  const auto make = [](const InputContext& context) {
    EXPECT_EQ(context.num_input_pipelines, 2);
    return range(context.input_pipeline_id * 10, context.input_pipeline_id * 10 + 3 + context.input_pipeline_id)
        .batch(2);
  };
  EXPECT_THAT(epochs_of_function<Numbers>(make, 1, 2, each)[0].steps,
              ElementsAre(Step{{0, 1}, {10, 11}}, Step{{2}, {12, 13}}));
  try {
    static_cast<void>(Numbered(range(4).batch(2), {}, std::nullopt, each));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_supported);
  }
}

TEST(DistributedDataset, WeightsDivideBatchesUnequally) {
  const InputOptions options{.replica_weights = {24, 12}};
  EXPECT_THAT(epochs_of(range(7).batch(6), 1, 2, options)[0].steps,
              ElementsAre(Step{{0, 1, 2, 3}, {4, 5}}, Step{{6}, {}}));
  InputOptions data = options;
  data.shard_policy = AutoShardPolicy::data;
  const auto epochs = epochs_of(range(6).batch(6), 2, 1, data);
  EXPECT_THAT(epochs[0].steps, ElementsAre(Step{{0, 1, 2, 3}}));
  EXPECT_THAT(epochs[1].steps, ElementsAre(Step{{4, 5}}));
  data.shard_policy = AutoShardPolicy::off;
  EXPECT_THAT(epochs_of(range(6).repeat().batch(6).take(6), 2, 1, data)[1].steps[2], ElementsAre(Numbers{4, 5}));
  EXPECT_THAT(rejection([&] {
                static_cast<void>(Numbered(range(6).batch(6), {1, 0, 3}, std::nullopt, options));
              }),
              HasSubstr("2 replica_weights for 3 replicas"));
}

TEST(DistributedDataset, RefusesArgumentsThatDoNotFit) {
  const auto batches = range(4).batch(2);
  EXPECT_THAT(rejection([&] { static_cast<void>(Numbered(batches, {2, 0, 1})); }), HasSubstr("no communicator"));
  EXPECT_THAT(rejection([&] { static_cast<void>(Numbered(batches, {2, 2, 1})); }), HasSubstr("worker 2 of 2"));
  EXPECT_THAT(
      rejection([&] { static_cast<void>(Numbered(batches, {}, std::nullopt, {.place_dataset_on_device = true})); }),
      HasSubstr("per_replica"));
  const auto wrong = [&](const ReplicaLayout& layout, const auto& comm) {
    return rejection([&] { static_cast<void>(Numbered(batches, {3, layout.worker, 1}, comm)); });
  };
  EXPECT_THAT(test::on_workers(2, 1, wrong)[1], HasSubstr("rank 1 of 2"));
}

TEST(DistributedDataset, EachEpochIsShuffledAnew) {
  const Numbered data(range(20).shuffle(20, 3, Reshuffle::each_epoch).batch(4), {1, 0, 2});
  const auto first = test::epoch_of(data.iterate());
  const auto second = test::epoch_of(data.iterate());
  EXPECT_NE(first, second);
  EXPECT_EQ(test::epoch_of(data.iterate(0)), first);
  const std::int64_t sum = data.reduce(std::int64_t{0}, [](std::int64_t so_far, const DistributedBatch<Numbers>& step) {
    for (const Numbers& batch : step.batches().values()) so_far = std::accumulate(batch.begin(), batch.end(), so_far);
    return so_far;
  });
  EXPECT_EQ(sum, 190);
}

/// The rows of all workers in all steps, each time they appear.
std::multiset<std::int64_t> rows_of(const std::vector<test::Epoch<Numbers>>& epochs) {
  std::multiset<std::int64_t> rows;
  for (const auto& epoch : epochs) {
    for (const Step& step : epoch.steps) {
      for (const Numbers& batch : step) rows.insert(batch.begin(), batch.end());
    }
  }
  return rows;
}

/// That all workers have the same steps, and know how many rows each has.
void expect_true_sizes(const std::vector<test::Epoch<Numbers>>& epochs) {
  for (const auto& epoch : epochs) ASSERT_EQ(epoch.global_sizes, epochs[0].global_sizes);
  for (std::size_t step = 0; step < epochs[0].steps.size(); ++step) {
    std::size_t rows = 0;
    for (const auto& epoch : epochs) {
      for (const Numbers& batch : epoch.steps[step]) rows += batch.size();
    }
    EXPECT_EQ(rows, epochs[0].global_sizes[step]);
  }
}

TEST(DistributedDataset, EveryRowComesExactlyOnce) {
  for (int workers = 1; workers <= 3; ++workers) {
    for (int replicas = 1; replicas <= 3; ++replicas) {
      for (const std::size_t batch : {1, 2, 5, 8, 12}) {
        for (const std::size_t length : {0, 1, 7, 12, 25}) {
          SCOPED_TRACE(testing::Message() << workers << " x " << replicas << ", " << length << " by " << batch);
          const auto dataset = range(length).batch(batch);
          for (const bool known : {true, false}) {
            const auto epochs = epochs_of(known ? dataset : of_unknown_length(dataset), workers, replicas,
                                          {.shard_policy = AutoShardPolicy::data});
            const std::multiset<std::int64_t> rows = rows_of(epochs);
            EXPECT_EQ(rows.size(), length);
            EXPECT_EQ(std::set<std::int64_t>(rows.begin(), rows.end()).size(), length);
            expect_true_sizes(epochs);
          }
        }
      }
    }
  }
}

TEST(DistributedDataset, BatchesOfAnySourceAreCutAlike) {
  const auto batches = range(25).batch(10);
  const auto mapped = batches.map([](const Numbers& batch) { return batch; });
  for (int workers = 1; workers <= 3; ++workers) {
    for (int replicas = 1; replicas <= 3; ++replicas) {
      const InputOptions data{.shard_policy = AutoShardPolicy::data};
      EXPECT_EQ(epochs_of(mapped, workers, replicas, data), epochs_of(batches, workers, replicas, data));
      const InputOptions off{.shard_policy = AutoShardPolicy::off};
      EXPECT_EQ(epochs_of(mapped, workers, replicas, off), epochs_of(batches, workers, replicas, off));
    }
  }
}

TEST(DistributedDataset, WithoutShardsEveryWorkerSeesEveryRowOnce) {
  for (int workers = 2; workers <= 3; ++workers) {
    for (int replicas = 1; replicas <= 2; ++replicas) {
      for (const std::size_t batch : {1, 2, 5, 8, 12}) {
        for (const std::size_t length : {1, 7, 12, 24}) {
          SCOPED_TRACE(testing::Message() << workers << " x " << replicas << ", " << length << " by " << batch);
          const auto dataset = range(length).batch(batch);
          for (const bool known : {true, false}) {
            const auto epochs = epochs_of(known ? dataset : of_unknown_length(dataset), workers, replicas,
                                          {.shard_policy = AutoShardPolicy::off});
            for (const auto& epoch : epochs) EXPECT_EQ(rows_of({epoch}).size(), length);
            expect_true_sizes(epochs);
          }
        }
      }
    }
  }
}

TEST(DistributedDataset, TellsItsCardinalityTruly) {
  for (int workers = 1; workers <= 3; ++workers) {
    for (const AutoShardPolicy policy : {AutoShardPolicy::data, AutoShardPolicy::off}) {
      for (const std::size_t length : {0, 5, 12, 13}) {
        for (const Dataset<Numbers>& dataset :
             {range(length).batch(4), range(length).batch(4).repeat(2), of_unknown_length(range(length).batch(4)),
              range(length).batch(4, Remainder::drop)}) {
          test::on_workers(workers, 2, [&](const ReplicaLayout& layout, const auto& comm) {
            const Numbered data(dataset, layout, comm, {.shard_policy = policy});
            const auto steps = test::epoch_of(data.iterate()).steps.size();
            EXPECT_EQ(data.cardinality().count().value_or(steps), steps);
            return 0;
          });
        }
      }
    }
  }
  EXPECT_EQ(Numbered(range(25).batch(10), {1, 0, 3}).cardinality(), Cardinality::known(3));
  EXPECT_EQ(Numbered(range(25).repeat().batch(10), {1, 0, 3}).cardinality(), Cardinality::infinite());
}

}  // namespace
}  // namespace chorus
