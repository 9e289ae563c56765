// SPDX-License-Identifier: Apache-2.0
#include "strategies/input/collect.hpp"

#include <chorus/strategies/split.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace chorus {
namespace {

using Sizes = std::vector<std::size_t>;
using testing::ElementsAre;
using testing::HasSubstr;

std::size_t sum(const Sizes& sizes) { return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}); }

TEST(Split, Case89GivesTheFirstReplicasOneMore) {
  EXPECT_THAT(split_batch(10, 3), ElementsAre(4, 3, 3));
  EXPECT_THAT(split_batch(7, 4), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(split_batch(2, 4), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(split_batch(10, 2), ElementsAre(5, 5));
}

TEST(Split, Case91RotatesTheLengthsFromWorkerToWorker) {
  EXPECT_THAT(batch_sizes(10, {2, 0, 2}), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(batch_sizes(10, {2, 1, 2}), ElementsAre(2, 2, 3, 3));
  EXPECT_THAT(batch_sizes(3, {2, 0, 2}), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(batch_sizes(3, {2, 1, 2}), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(batch_sizes(4, {3, 0, 1}), ElementsAre(2, 1, 1));
  EXPECT_THAT(batch_sizes(4, {3, 1, 1}), ElementsAre(1, 1, 2));
  EXPECT_THAT(batch_sizes(4, {3, 2, 1}), ElementsAre(1, 2, 1));
}

TEST(Split, OfAnyBatchIsFairAndWhole) {
  for (std::size_t rows = 0; rows <= 40; ++rows) {
    for (int replicas = 1; replicas <= 9; ++replicas) {
      const Sizes sizes = split_batch(rows, replicas);
      EXPECT_EQ(sizes.size(), static_cast<std::size_t>(replicas));
      EXPECT_EQ(sum(sizes), rows);
      EXPECT_LE(sizes.front() - sizes.back(), 1U);
      EXPECT_TRUE(std::ranges::is_sorted(sizes, std::greater<>()));
    }
  }
}

TEST(Split, EveryStepOfAllWorkersMakesOneGlobalBatch) {
  for (const std::size_t rows : {1, 2, 3, 7, 10, 16, 64, 101}) {
    for (int workers = 1; workers <= 6; ++workers) {
      for (int local = 1; local <= 4; ++local) {
        for (int step = 0; step < workers; ++step) {
          std::size_t total = 0;
          for (int worker = 0; worker < workers; ++worker) {
            const Sizes sizes = batch_sizes(rows, {workers, worker, local});
            total += std::accumulate(sizes.begin() + step * local, sizes.begin() + (step + 1) * local, std::size_t{0});
          }
          EXPECT_EQ(total, rows) << workers << " x " << local << ", step " << step;
        }
      }
    }
  }
}

TEST(Split, ByWeightsFollowsTheWeights) {
  const double cards[] = {24, 12};
  EXPECT_THAT(split_batch(36, cards), ElementsAre(24, 12));
  EXPECT_THAT(split_batch(10, cards), ElementsAre(7, 3));
  const double thirds[] = {1, 1, 1};
  EXPECT_THAT(split_batch(10, thirds), ElementsAre(4, 3, 3));
  const double none[] = {0, 1, 0};
  EXPECT_THAT(split_batch(5, none), ElementsAre(0, 5, 0));
}

TEST(Split, ByWeightsIsWholeAndWithinOneRowOfTheShare) {
  const double weights[] = {0.1, 3.3, 1e-9, 7, 2, 0.7};
  const double all = std::accumulate(std::begin(weights), std::end(weights), 0.0);
  for (std::size_t rows = 0; rows < 200; ++rows) {
    const Sizes sizes = split_batch(rows, weights);
    EXPECT_EQ(sum(sizes), rows);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(sizes[i]), static_cast<double>(rows) * weights[i] / all, 1.0);
    }
  }
  for (int replicas = 1; replicas < 8; ++replicas) {
    const std::vector<double> equal(static_cast<std::size_t>(replicas), 0.1);
    for (std::size_t rows = 0; rows < 50; ++rows) EXPECT_EQ(split_batch(rows, equal), split_batch(rows, replicas));
  }
}

TEST(Split, LegacySlicesAreRoundedUp) {
  EXPECT_THAT(legacy_split(8, 2), ElementsAre(4, 4));
  EXPECT_THAT(legacy_split(10, 4), ElementsAre(3, 3, 3, 1));
  EXPECT_THAT(legacy_split(5, 4), ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(legacy_split(1, 2), ElementsAre(1, 0));
  for (std::size_t rows = 0; rows < 40; ++rows) {
    for (int replicas = 1; replicas < 9; ++replicas) EXPECT_EQ(sum(legacy_split(rows, replicas)), rows);
  }
}

TEST(Split, Case103NamesFewerFilesThanWorkers) {
  const std::string text = test::rejection([] { static_cast<void>(shard_files({"a", "b", "c"}, 4, 0)); });
  EXPECT_THAT(text, HasSubstr("3 < 4"));
  EXPECT_THAT(text, HasSubstr("AutoShardPolicy::off"));
  EXPECT_THAT(text, HasSubstr("AutoShardPolicy::data"));
}

TEST(Split, GivesEveryFileToOneWorker) {
  EXPECT_THAT(shard_files({"a", "b", "c", "d", "e"}, 2, 0), ElementsAre("a", "c", "e"));
  EXPECT_THAT(shard_files({"a", "b", "c", "d", "e"}, 2, 1), ElementsAre("b", "d"));
}

TEST(Split, RefusesWhatHasNoMeaning) {
  const double negative[] = {1, -1};
  const double zeros[] = {0, 0};
  const double infinite[] = {1, std::numeric_limits<double>::infinity()};
  EXPECT_THAT(test::rejection([&] { static_cast<void>(split_batch(4, negative)); }), HasSubstr("weights[1] is -1"));
  EXPECT_THAT(test::rejection([&] { static_cast<void>(split_batch(4, zeros)); }), HasSubstr("above 0"));
  EXPECT_THAT(test::rejection([&] { static_cast<void>(split_batch(4, infinite)); }), HasSubstr("weights[1]"));
  EXPECT_THAT(test::rejection([] { static_cast<void>(split_batch(4, 0)); }), HasSubstr("replicas is 0"));
  EXPECT_THAT(test::rejection([] { static_cast<void>(legacy_split(4, -1)); }), HasSubstr("replicas is -1"));
  EXPECT_THAT(test::rejection([] { static_cast<void>(batch_sizes(4, {2, 2, 1})); }), HasSubstr("worker 2 of 2"));
  EXPECT_THAT(test::rejection([] { static_cast<void>(shard_files({"a"}, 1, 1)); }), HasSubstr("worker 1 of 1"));
}

}  // namespace
}  // namespace chorus
