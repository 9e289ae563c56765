// SPDX-License-Identifier: Apache-2.0
// The end of the data, where the workers do not come to it together.
#include "strategies/input/collect.hpp"
#include "strategies/input/workers.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/distributed_dataset.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace chorus {
namespace {

using test::epochs_of;
using test::epochs_of_function;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

/// 2 rows a batch: 11 batches on worker 0 and 10 on the others, the last of worker 1 short.
Dataset<Numbers> uneven(const InputContext& context) {
  const std::size_t lengths[] = {22, 19, 20};
  return range(lengths[context.input_pipeline_id]).batch(2);
}

std::size_t steps_of(const std::vector<test::Epoch<Numbers>>& epochs) {
  for (const auto& epoch : epochs) EXPECT_EQ(epoch.global_sizes, epochs[0].global_sizes);
  return epochs[0].steps.size();
}

/// What each of three workers says where it throws.
template <class Make>
std::vector<std::string> rejections(const Make& make, const InputOptions& options) {
  return test::on_workers(3, 1, [&](const ReplicaLayout& layout, const auto& comm) {
    return test::rejection([&] {
      auto iterator = DistributedDataset<Numbers>::from_function(make, layout, comm, options).iterate();
      try {
        while (iterator.next()) {
        }
      } catch (...) {
        EXPECT_FALSE(iterator.next());
        throw;
      }
    });
  });
}

TEST(Uneven, Case205PadGoesOnToTheLastRow) {
  const auto epochs = epochs_of_function<Numbers>(uneven, 3, 1);
  EXPECT_EQ(steps_of(epochs), 11U);
  EXPECT_EQ(epochs[0].global_sizes[8], 6U);
  EXPECT_EQ(epochs[0].global_sizes[9], 5U);
  EXPECT_EQ(epochs[0].global_sizes[10], 2U);
  EXPECT_THAT(epochs[2].steps[10], ElementsAre(Numbers{}));
}

TEST(Uneven, Case205StopAllEndsWithTheShortest) {
  const auto epochs = epochs_of_function<Numbers>(uneven, 3, 1, {.uneven = UnevenPolicy::stop_all});
  EXPECT_EQ(steps_of(epochs), 10U);
  EXPECT_EQ(epochs[0].global_sizes[9], 5U);
}

TEST(Uneven, Case205DropLeavesShortStepsOut) {
  const auto epochs = epochs_of_function<Numbers>(uneven, 3, 1, {.uneven = UnevenPolicy::drop});
  EXPECT_EQ(steps_of(epochs), 9U);
  EXPECT_THAT(epochs[0].global_sizes, Each(6U));
}

TEST(Uneven, Case205ErrorNamesWorkersAndCounts) {
  for (const std::string& text : rejections(uneven, {.uneven = UnevenPolicy::error})) {
    EXPECT_THAT(text, HasSubstr("worker 0: 11, worker 1: 10, worker 2: 10"));
  }
  const auto uncounted = [](const InputContext& context) {
    const int count = context.input_pipeline_id == 1 ? 3 : 4;
    return make_generator_dataset([count] {
      return [count, at = 0]() mutable { return at++ < count ? std::optional<Numbers>(Numbers{1, 2}) : std::nullopt; };
    });
  };
  for (const std::string& text : rejections(uncounted, {.uneven = UnevenPolicy::error})) {
    EXPECT_THAT(text, HasSubstr("in step 3 worker 1 has rows for 0 of its 1 replicas"));
    EXPECT_THAT(text, HasSubstr("worker 0: 8, worker 1: 6, worker 2: 8"));
  }
}

TEST(Uneven, PoliciesHoldForTheReplicasOfOneWorker) {
  const auto batches = range(25).batch(10);
  EXPECT_EQ(steps_of(epochs_of(batches, 1, 3, {.uneven = UnevenPolicy::stop_all})), 2U);
  EXPECT_EQ(steps_of(epochs_of(range(28).batch(10), 1, 3, {.uneven = UnevenPolicy::stop_all})), 3U);
  EXPECT_EQ(steps_of(epochs_of(range(28).batch(10), 1, 3, {.uneven = UnevenPolicy::drop})), 2U);
  EXPECT_EQ(steps_of(epochs_of(range(28).batch(10), 1, 3, {.uneven = UnevenPolicy::error})), 3U);
  EXPECT_THAT(test::rejection([&] { epochs_of(batches, 1, 3, {.uneven = UnevenPolicy::error}); }),
              HasSubstr("rows for 2 of its 3 replicas"));
}

TEST(Uneven, PoliciesHoldForSlicesOfBatches) {
  InputOptions options{.shard_policy = AutoShardPolicy::data, .uneven = UnevenPolicy::stop_all};
  EXPECT_EQ(steps_of(epochs_of(range(9).batch(2), 2, 1, options)), 4U);
  options.uneven = UnevenPolicy::drop;
  EXPECT_EQ(steps_of(epochs_of(range(11).batch(4), 2, 1, options)), 2U);
  options.uneven = UnevenPolicy::error;
  EXPECT_THAT(test::rejection([&] { epochs_of(range(9).batch(2), 2, 1, options); }),
              HasSubstr("worker 1 has rows for 0 of its 1 replicas"));
}

TEST(Uneven, PoliciesRefuseBatchesThatAreTooShort) {
  for (const UnevenPolicy policy : {UnevenPolicy::drop, UnevenPolicy::stop_all, UnevenPolicy::error}) {
    EXPECT_THAT(test::rejection([&] { epochs_of(range(9).batch(2), 1, 3, {.uneven = policy}); }),
                HasSubstr("2 rows for 3 replicas"));
  }
  EXPECT_EQ(steps_of(epochs_of(range(9).batch(2), 1, 3)), 5U);
}

TEST(Uneven, AWorkerWithoutAnyDataGetsBatchesOfTheRightShape) {
  using Matrix = Tensor<double, 2>;
  const auto make = [](const InputContext& context) {
    return make_array_dataset(Matrix({context.input_pipeline_id == 0 ? 3U : 0U, 5})).batch(2);
  };
  const auto epochs = test::on_workers(2, 2, [&](const ReplicaLayout& layout, const auto& comm) {
    return test::epoch_of(DistributedDataset<Matrix>::from_function(make, layout, comm).iterate());
  });
  EXPECT_EQ(epochs[1].steps.size(), 1U);
  for (const Matrix& batch : epochs[1].steps[0]) EXPECT_EQ(batch.shape(), (Shape{0, 5}));
  const auto matrices = make_array_dataset(Matrix({2, 5})).batch(4);
  const auto off = epochs_of(matrices, 3, 1, {.shard_policy = AutoShardPolicy::off});
  for (const auto& epoch : off) EXPECT_EQ(epoch.steps.back()[0].shape()[1], 5U);
}

TEST(Uneven, AWorkerWithoutAnyDataGetsEachPartOfABatchInItsShape) {
  using Parts = std::tuple<Tensor<double, 3>, Numbers, Tensor<float, 2>>;
  for (const std::size_t with_data : {0U, 1U, 2U}) {
    const auto make = [&](const InputContext& context) {
      const std::size_t rows = static_cast<std::size_t>(context.input_pipeline_id) == with_data ? 5 : 0;
      return make_array_dataset(Parts(Tensor<double, 3>({rows, 3, 4}), Numbers(rows), Tensor<float, 2>({rows, 2})))
          .batch(2);
    };
    for (const auto& epoch : epochs_of_function<Parts>(make, 3, 1)) {
      ASSERT_EQ(epoch.steps.size(), 3U);
      for (const auto& step : epoch.steps) {
        EXPECT_EQ(std::get<0>(step[0]).shape()[1], 3U);
        EXPECT_EQ(std::get<0>(step[0]).shape()[2], 4U);
        EXPECT_EQ(std::get<2>(step[0]).shape()[1], 2U);
      }
    }
  }
}

TEST(Uneven, AWorkerThatFailsIsNamedToTheOthers) {
  for (const std::size_t buffer : {0, 1, 3}) {
    const auto make = [](const InputContext& context) {
      return range(20).batch(2).map([worker = context.input_pipeline_id](const Numbers& batch) {
        if (worker == 1 && batch[0] == 6) throw Error(ErrorCode::invalid_argument, "the disk is gone");
        return batch;
      });
    };
    const auto texts = rejections(make, {.per_replica_buffer_size = buffer});
    EXPECT_THAT(texts[0], HasSubstr("in step 3 worker 1 could not read its data"));
    EXPECT_EQ(texts[1], "the disk is gone");
    EXPECT_EQ(texts[0], texts[2]);
  }
}

TEST(Uneven, EndlessDataNeedNoAgreement) {
  const auto endless = range(7).repeat().batch(4);
  test::on_workers(2, 1, [&](const ReplicaLayout& layout, const auto& comm) {
    auto iterator =
        DistributedDataset<Numbers>(endless, layout, comm, {.shard_policy = AutoShardPolicy::off}).iterate();
    EXPECT_EQ(iterator.next()->global_size(), 4U);
    // Were there an agreement, this would wait for the other worker.
    for (int step = 0; layout.worker == 0 && step < 100; ++step) EXPECT_EQ(iterator.next()->global_size(), 4U);
    return 0;
  });
}

TEST(Uneven, BatchesThatAreKnownNeedNoAgreement) {
  test::on_workers(2, 1, [&](const ReplicaLayout& layout, const auto& comm) {
    const DistributedDataset<Numbers> data(range(9).batch(4), layout, comm, {.shard_policy = AutoShardPolicy::data});
    auto iterator = data.iterate();
    EXPECT_EQ(iterator.next()->global_size(), 4U);
    if (layout.worker == 1) return 0;
    EXPECT_EQ(iterator.next()->global_size(), 4U);
    EXPECT_EQ(iterator.next()->global_size(), 1U);
    EXPECT_FALSE(iterator.next());
    return 0;
  });
}

TEST(Uneven, StepsWithoutRowsOnAnyWorkerAreLeftOut) {
  const auto uncounted = range(12).batch(4).with_batch_size(std::nullopt);  // 2, 2 and 0 rows of each batch
  for (const UnevenPolicy policy : {UnevenPolicy::pad, UnevenPolicy::stop_all, UnevenPolicy::error}) {
    const InputOptions options{.shard_policy = AutoShardPolicy::off, .uneven = policy};
    const auto epochs = epochs_of(uncounted, 3, 1, options);
    ASSERT_EQ(steps_of(epochs), 6U);
    for (const auto& epoch : epochs) {
      EXPECT_THAT(epoch.global_sizes, Each(6U));
      EXPECT_THAT(epoch.steps[2], ElementsAre(Numbers{4, 5})) << "the first after those of the first batch";
    }
  }
  for (const UnevenPolicy policy :
       {UnevenPolicy::pad, UnevenPolicy::stop_all, UnevenPolicy::drop, UnevenPolicy::error}) {
    for (const int workers : {1, 3}) {
      const auto epochs = epochs_of_function<Numbers>(
          [](const InputContext&) {
            return make_generator_dataset([] {
              return [at = 0]() mutable -> std::optional<Numbers> {
                ++at;  // rows in steps 1, 2, 5 and 7; none in 3, 4, 6 and 8
                if (at > 8) return std::nullopt;
                return at == 1 || at == 2 || at == 5 || at == 7 ? Numbers{at, at} : Numbers{};
              };
            });
          },
          workers, 1, {.uneven = policy});
      EXPECT_THAT(epochs[0].steps, ElementsAre(ElementsAre(Numbers{1, 1}), ElementsAre(Numbers{2, 2}),
                                               ElementsAre(Numbers{5, 5}), ElementsAre(Numbers{7, 7})));
      EXPECT_EQ(steps_of(epochs), 4U);
    }
  }
}

TEST(Uneven, StepsThatMayBeLeftOutAreNotCounted) {
  const auto counted = range(12).batch(4);
  const InputOptions options{.shard_policy = AutoShardPolicy::off};
  const auto counts = test::on_workers(3, 1, [&](const ReplicaLayout& layout, const auto& comm) {
    const DistributedDataset<Numbers> unknown(counted.with_batch_size(std::nullopt), layout, comm, options);
    EXPECT_EQ(unknown.cardinality(), Cardinality::unknown());
    return unknown.cardinality().count();
  });
  EXPECT_THAT(counts, Each(std::nullopt));
  EXPECT_EQ(DistributedDataset<Numbers>(counted, {1, 0, 3}).cardinality(), Cardinality::known(3));
}

TEST(Uneven, BatchesOfReplicasThatDifferHaveNoRowsInCommon) {
  const auto rows = [](const std::vector<std::size_t>& lengths) {
    const auto make = [&](const InputContext& context) {
      return range(12).batch(lengths[static_cast<std::size_t>(context.input_pipeline_id)], Remainder::drop).take(2);
    };
    const InputOptions each{.replication_mode = InputReplicationMode::per_replica};
    return DistributedDataset<Numbers>::from_function(make, {1, 0, 3}, {}, each).batch_rows();
  };
  EXPECT_EQ(rows({2, 2, 2}), 2U);
  EXPECT_EQ(rows({2, 1, 3}), std::nullopt) << "though there are 6 in each step";
}

TEST(Uneven, StructuresOfAnyKindArePadded) {
  using Parts = std::map<std::string, Numbers>;
  const auto batches = make_array_dataset(Parts{{"a", {1, 2, 3}}, {"b", {4, 5, 6}}}).batch(2);
  const auto epoch = epochs_of(batches, 1, 2)[0];
  EXPECT_EQ(epoch.steps[1], (std::vector<Parts>{{{"a", {3}}, {"b", {6}}}, {{"a", {}}, {"b", {}}}}));
}

}  // namespace
}  // namespace chorus
