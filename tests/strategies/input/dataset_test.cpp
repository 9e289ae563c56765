// SPDX-License-Identifier: Apache-2.0
#include "strategies/input/collect.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/dataset.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using test::collect;
using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

static_assert(std::input_iterator<decltype(range(1).begin())>);
static_assert(std::ranges::input_range<Dataset<std::int64_t>>);
static_assert(std::same_as<decltype(range(1).batch(2)), Dataset<Numbers>>);
static_assert(std::same_as<decltype(range(1).batch(2).batch(2)), Dataset<Tensor<std::int64_t, 2>>>);

/// 0, 1, ... up to `count`, of which the description tells nothing.
Dataset<int> counting(int count) {
  return make_generator_dataset(
      [count] { return [count, at = 0]() mutable { return at < count ? std::optional<int>(at++) : std::nullopt; }; });
}

TEST(Dataset, RangesCountUpAndDown) {
  EXPECT_THAT(collect(range(4)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(collect(range(3, 10, 3)), ElementsAre(3, 6, 9));
  EXPECT_THAT(collect(range(5, 0, -2)), ElementsAre(5, 3, 1));
  EXPECT_THAT(collect(range(5, 5)), ElementsAre());
  EXPECT_THAT(collect(range(5, 6, -1)), ElementsAre());
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(collect(range(least, most, most)), ElementsAre(least, -1, most - 1));
  EXPECT_THAT(collect(range(most, least, least)), ElementsAre(most, -1));
  EXPECT_THAT(test::rejection([] { static_cast<void>(range(0, 1, 0)); }), HasSubstr("step is 0"));
}

TEST(Dataset, GivesItsDataAnewToEachIterator) {
  const Dataset<int> numbers = counting(3);
  auto first = numbers.iterate();
  EXPECT_EQ(first.next(), 0);
  auto second = numbers.iterate();
  EXPECT_EQ(second.next(), 0);
  EXPECT_EQ(first.next(), 1);
  EXPECT_EQ(first.next(), 2);
  EXPECT_EQ(first.next(), std::nullopt);
  EXPECT_EQ(first.next(), std::nullopt);
  EXPECT_THAT(collect(numbers), ElementsAre(0, 1, 2));
}

TEST(Dataset, BatchesKeepOrDropTheRemainder) {
  EXPECT_THAT(collect(range(5).batch(2)), ElementsAre(Numbers{0, 1}, Numbers{2, 3}, Numbers{4}));
  EXPECT_THAT(collect(range(5).batch(2, Remainder::drop)), ElementsAre(Numbers{0, 1}, Numbers{2, 3}));
  EXPECT_THAT(collect(range(0).batch(2)), ElementsAre());
  EXPECT_THAT(test::rejection([] { static_cast<void>(range(1).batch(0)); }), HasSubstr("rows is 0"));
  EXPECT_THAT(test::rejection([] { static_cast<void>(range(1).batch(-1)); }), HasSubstr("rows is -1"));
  EXPECT_THAT(test::rejection([] { static_cast<void>(range(1).shuffle(-2, 1)); }), HasSubstr("buffer is -2"));
  EXPECT_THAT(test::rejection([] { static_cast<void>(range(1).prefetch(-3)); }), HasSubstr("count is -3"));
}

struct Example {
  std::vector<float> image;
  int label;
};
struct Examples {
  Tensor<float, 2> images;
  std::vector<int> labels;
};

TEST(Dataset, StructuresAreBatchedPartByPart) {
  const auto element = [](std::int64_t i) {
    return std::pair(std::vector<float>{static_cast<float>(i), 1}, std::map<std::string, std::int64_t>{{"id", i}});
  };
  const auto batches = collect(range(3).map(element).batch(2));
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].first, (Tensor<float, 2>({2, 2}, {0, 1, 1, 1})));
  EXPECT_EQ(batches[1].second.at("id"), (Numbers{2}));
}

TEST(Dataset, AggregatesAreBatchedIntoTheNamedOne) {
  const auto example = [](std::int64_t i) { return Example{{static_cast<float>(i), 7}, static_cast<int>(i) * 10}; };
  const Dataset<Examples> batches = range(5).map(example).batch<Examples>(4);
  const auto all = collect(batches);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].images, (Tensor<float, 2>({4, 2}, {0, 7, 1, 7, 2, 7, 3, 7})));
  EXPECT_THAT(all[1].labels, ElementsAre(40));
}

struct Swapped {
  std::vector<int> labels;
  Tensor<float, 2> images;
};

TEST(Dataset, BatchesOfUnlikeElementsAreRefused) {
  const auto ragged = range(3).map([](std::int64_t i) { return std::vector<int>(i == 2 ? 3 : 4); });
  const std::string text = test::rejection([&] { collect(ragged.batch(3)); });
  EXPECT_THAT(text, HasSubstr("element 2"));
  EXPECT_THAT(text, HasSubstr("(3)"));
  EXPECT_THAT(text, HasSubstr("(4)"));
  const auto examples = range(2).map([](std::int64_t) { return Example{{1, 2}, 3}; });
  EXPECT_THAT(test::rejection([&] { collect(examples.batch<Swapped>(2)); }), HasSubstr(".field0"));
}

TEST(Dataset, BatchesOfMapsWithOtherKeysAreRefused) {
  using Parts = std::map<std::string, int>;
  const auto says = [](const Parts& last, const std::string& why) {
    const auto parts = range(4).map([last](std::int64_t i) { return i == 3 ? last : Parts{{"a", 1}, {"b", 2}}; });
    const std::string text = test::rejection([&] { collect(parts.batch(4)); });
    EXPECT_THAT(text, HasSubstr("Dataset::batch: element 3 has " + why));
    EXPECT_THAT(text, HasSubstr("the same keys"));
  };
  says({{"a", 3}, {"c", 4}}, "[c] where those before it in the batch have [b]");
  says({{"a", 3}, {"b", 4}, {"c", 5}}, "[c], which those before it in the batch have not");
  says({{"a", 3}}, "no [b], as those before it in the batch have");
  const auto empty = range(2).map([](std::int64_t i) { return std::vector<Parts>(static_cast<std::size_t>(i)); });
  EXPECT_THAT(test::rejection([&] { collect(empty.batch(2)); }), HasSubstr("element 1 has another number of empty"));
  const auto longer =
      range(2).map([](std::int64_t i) { return std::vector(static_cast<std::size_t>(i), std::pair(1, 2)); });
  EXPECT_THAT(test::rejection([&] { collect(longer.batch(2)); }), HasSubstr("element 1 has [0][0]"));
}

TEST(Dataset, TakesSkipsAndRepeats) {
  EXPECT_THAT(collect(range(5).take(2)), ElementsAre(0, 1));
  EXPECT_THAT(collect(range(2).take(5)), ElementsAre(0, 1));
  EXPECT_THAT(collect(range(5).skip(3)), ElementsAre(3, 4));
  EXPECT_THAT(collect(range(2).skip(3)), ElementsAre());
  EXPECT_THAT(collect(counting(5).skip(3)), ElementsAre(3, 4));
  EXPECT_THAT(collect(range(2).repeat(3)), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(collect(range(2).repeat(0)), ElementsAre());
  EXPECT_THAT(collect(range(3).repeat().skip(4).take(4)), ElementsAre(1, 2, 0, 1));
  EXPECT_THAT(collect(counting(0).repeat()), ElementsAre());
}

TEST(Dataset, Case101ShardsTakeEveryNthElement) {
  EXPECT_THAT(collect(range(10).shard(3, 0)), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(collect(range(10).shard(3, 1)), ElementsAre(1, 4, 7));
  EXPECT_THAT(collect(range(10).shard(3, 2)), ElementsAre(2, 5, 8));
  EXPECT_THAT(collect(range(2).shard(3, 2)), ElementsAre());
  EXPECT_THAT(collect(range(4).batch(2).shard(2, 1)), ElementsAre(Numbers{2, 3}));
  EXPECT_THAT(test::rejection([] { static_cast<void>(range(2).shard(2, 2)); }), HasSubstr("index 2 of 2"));
}

TEST(Dataset, ShardsDoNotMakeWhatLiesBetween) {
  std::atomic<int> calls = 0;
  const auto counted = range(100).map([&calls](std::int64_t i) { return ++calls, i; });
  EXPECT_EQ(collect(counted.shard(10, 3)).size(), 10U);
  EXPECT_EQ(calls, 10);
}

TEST(Dataset, SkippingIsTheSameAsReading) {
  const std::vector<Dataset<Numbers>> datasets = {range(23).batch(3),
                                                  range(23).batch(3, Remainder::drop),
                                                  range(7).repeat(3).batch(4),
                                                  range(7).batch(4).repeat(3),
                                                  range(30).skip(2).take(20).batch(3),
                                                  range(30).shard(4, 1).batch(2),
                                                  range(7).batch(4, Remainder::drop).repeat(3),
                                                  range(20).shuffle(5, 1).batch(3),
                                                  range(9).batch(2).prefetch(1)};
  for (const Dataset<Numbers>& dataset : datasets) {
    const std::vector<Numbers> all = collect(dataset);
    for (std::size_t count = 0; count <= all.size() + 1; ++count) {
      const std::vector<Numbers> rest = collect(dataset.skip(count));
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
      EXPECT_EQ(rest, std::vector<Numbers>(from, all.end()));
    }
  }
}

TEST(Dataset, ShufflesInTheOrderThatIsWrittenHere) {
  EXPECT_THAT(collect(range(10).shuffle(10, 1)), ElementsAre(1, 0, 8, 2, 5, 9, 6, 3, 4, 7));
  EXPECT_THAT(collect(range(10).shuffle(3, 42)), ElementsAre(1, 3, 2, 0, 4, 6, 8, 9, 7, 5));
  const auto each = range(10).shuffle(10, 1, Reshuffle::each_epoch);
  EXPECT_THAT(collect(each), ElementsAre(1, 0, 8, 2, 5, 9, 6, 3, 4, 7));
  EXPECT_THAT(collect(each), ElementsAre(1, 0, 3, 9, 5, 4, 7, 8, 2, 6));
}

TEST(Dataset, ShufflesKeepEveryElement) {
  for (const std::size_t buffer : {1, 2, 7, 100, 1000}) {
    const auto shuffled = range(100).shuffle(buffer, 5);
    const Numbers order = collect(shuffled);
    EXPECT_EQ(order, collect(shuffled));
    EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), 100U);
    EXPECT_EQ(order == collect(range(100)), buffer == 1);
  }
}

TEST(Dataset, ShufflesEachEpochAnew) {
  const auto each = range(50).shuffle(50, 9, Reshuffle::each_epoch);
  const Numbers twice = collect(each.repeat(2));
  const Numbers first(twice.begin(), twice.begin() + 50);
  const Numbers second(twice.begin() + 50, twice.end());
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<std::int64_t>(second.begin(), second.end()).size(), 50U);
  Numbers again;
  for (auto epoch = each.iterate(1); const auto number = epoch.next();) again.push_back(*number);
  EXPECT_EQ(again, second);
  const Numbers same = collect(range(50).shuffle(50, 9).repeat(2));
  EXPECT_TRUE(std::equal(same.begin(), same.begin() + 50, same.begin() + 50));
}

TEST(Dataset, EveryOrderOfAShuffleIsAsLikely) {
  std::map<Numbers, int> orders;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++orders[collect(range(3).shuffle(3, seed))];
  EXPECT_EQ(orders.size(), 6U);
  for (const auto& [order, times] : orders) EXPECT_NEAR(times, 1000, 150);
}

TEST(Dataset, KnowsItsCardinality) {
  EXPECT_EQ(range(9).batch(2).cardinality(), Cardinality::known(5));
  EXPECT_EQ(range(9).batch(2, Remainder::drop).cardinality(), Cardinality::known(4));
  EXPECT_EQ(range(9).repeat().cardinality(), Cardinality::infinite());
  EXPECT_EQ(range(0).repeat().cardinality(), Cardinality::known(0));
  EXPECT_EQ(range(9).repeat(2).cardinality(), Cardinality::known(18));
  EXPECT_EQ(range(9).repeat().take(7).cardinality(), Cardinality::known(7));
  EXPECT_EQ(range(9).skip(7).cardinality(), Cardinality::known(2));
  EXPECT_EQ(range(9).shard(4, 0).cardinality(), Cardinality::known(3));
  EXPECT_EQ(range(9).shard(4, 1).cardinality(), Cardinality::known(2));
  EXPECT_EQ(range(1).shard(4, 3).cardinality(), Cardinality::known(0));
  EXPECT_EQ(counting(4).batch(2).cardinality(), Cardinality::unknown());
  EXPECT_EQ(range(9).batch(4).map([](const Numbers& batch) { return batch; }).batch_size(), 4U);
  EXPECT_EQ(range(9).batch(4).map([](const Numbers& batch) { return batch[0]; }).batch_size(), std::nullopt);
  for (std::size_t count = 0; count < 12; ++count) {
    const auto dataset = range(count).shard(3, 1).skip(1).repeat(2).batch(2).take(3);
    EXPECT_EQ(dataset.cardinality(), Cardinality::known(collect(dataset).size())) << count;
  }
}

TEST(Dataset, PrefetchKeepsTheOrder) {
  EXPECT_EQ(collect(range(1000).prefetch(3)), collect(range(1000)));
  EXPECT_THAT(test::rejection([] { static_cast<void>(range(1).prefetch(0)); }), HasSubstr("count is 0"));
}

TEST(Dataset, PrefetchPassesExceptionsInTheirPlace) {
  const auto fails = range(5).map([](std::int64_t i) {
    if (i == 3) throw std::runtime_error("three");
    return i;
  });
  auto iterator = fails.prefetch(10).iterate();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(iterator.next(), i);
  EXPECT_THROW(static_cast<void>(iterator.next()), std::runtime_error);
  EXPECT_THROW(static_cast<void>(iterator.next()), std::runtime_error);
}

TEST(Dataset, PrefetchStopsWhereNobodyReads) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) {
    auto iterator = range(3).repeat().prefetch(2).iterate();
    if (i % 2 == 0) static_cast<void>(iterator.next());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST(Dataset, PrefetchMakesElementsBeforeTheyAreAskedFor) {
  std::atomic<int> made = 0;
  auto iterator = range(100).map([&made](std::int64_t i) { return ++made, i; }).prefetch(4).iterate();
  while (made < 5) std::this_thread::yield();  // four wait, and the thread holds a fifth
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(made, 5);
  EXPECT_EQ(iterator.next(), 0);
}

TEST(Dataset, HintsLetEverythingPassUnlessAsked) {
  EXPECT_THAT(collect(range(3).shard(ShardHint{})), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace chorus
