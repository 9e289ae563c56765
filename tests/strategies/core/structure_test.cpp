// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/structure.hpp>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;

/// A key that counts how often its text is asked for.
struct CountedKey {
  int number = 0;
  static inline std::atomic<int> texts{0};
  bool operator<(const CountedKey& other) const { return number < other.number; }
  operator std::string() const {  // NOLINT(google-explicit-constructor): as map keys are written in messages
    ++texts;
    return "key " + std::to_string(number);
  }
};

struct Pair {
  double left = 0;
  std::vector<std::map<CountedKey, float>> right = {};
};

Pair some_pair() { return {1, {{{CountedKey{3}, 2.0F}}, {{CountedKey{4}, 3.0F}, {CountedKey{5}, 4.0F}}}}; }

TEST(Structure, PathsNameEveryLeaf) {
  const std::tuple<int, Pair> structure{7, some_pair()};
  EXPECT_THAT(paths_of(structure),
              ElementsAre("[0]", "[1].field0", "[1].field1[0][key 3]", "[1].field1[1][key 4]", "[1].field1[1][key 5]"));
  const double leaf = 0;
  EXPECT_THAT(paths_of(leaf), ElementsAre(""));
}

// All that a reduction writes out are the keys, which are compared: each once. Of a new structure it is the paths, too,
// which are kept for messages.
TEST_P(WithReplicas, PathsAreTextInMessagesOnly) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto reduce = [] { return get_replica_context()->all_reduce(ReduceOp::sum, some_pair()).left; };
  std::ignore = strategy.run(reduce);
  CountedKey::texts = 0;
  const auto sums = strategy.run(reduce);
  EXPECT_EQ(sums[0], replicas());
  EXPECT_EQ(CountedKey::texts, 3 * replicas());
}

struct WithArray {
  int first = 0;
  std::array<int, 2> second = {};
  double third[3] = {1, 2, 3};  // NOLINT(*-avoid-c-arrays): that is what it is for
  float fourth = 0;
};
struct WithBase : Pair {
  int more = 0;
};
struct Many {
  int numbers[20] = {};  // NOLINT(*-avoid-c-arrays)
};
struct ExplicitOnly {
  explicit ExplicitOnly(int number) : number_(number) {}
  int number_;
};
struct WithoutDefault {
  ExplicitOnly first;
  std::string second;
};
static_assert(detail::Aggregate<Pair> && detail::Aggregate<WithoutDefault>);
static_assert(!detail::Aggregate<WithArray> && !detail::Aggregate<WithBase> && !detail::Aggregate<Many>);

// What has parts that cannot be named is returned whole.
TEST_P(WithReplicas, WhatIsNoStructureMayBeReturned) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto id = [] { return get_replica_context()->replica_id_in_sync_group(); };
  const auto arrays = strategy.run([&] { return WithArray{.first = id()}; });
  const auto derived = strategy.run([&] { return WithBase{some_pair(), id()}; });
  const auto many = strategy.run([] { return Many(); });
  EXPECT_EQ(many[0].numbers[19], 0);
  for (int i = 0; i < replicas(); ++i) {
    EXPECT_EQ(arrays[i].first, i);
    EXPECT_EQ(arrays[i].third[2], 3);
    EXPECT_EQ(derived[i].more, i);
  }
}

TEST(Structure, NumbersTellLengthsAndKeysApart) {
  using Lists = std::vector<std::tuple<int>>;
  using Map = std::map<std::string, int>;
  using detail::structure_number;
  EXPECT_EQ(structure_number(Lists(2)), structure_number(Lists{{7}, {8}}));
  EXPECT_NE(structure_number(Lists(2)), structure_number(Lists(3)));
  EXPECT_NE(structure_number(Lists(0)), structure_number(Lists(1)));
  EXPECT_NE(structure_number(Map{{"a", 1}}), structure_number(Map{{"b", 1}}));
  EXPECT_NE(structure_number(Map{{"a", 1}}), structure_number(Map{{"a", 1}, {"b", 1}}));
  EXPECT_NE(structure_number(Map{{"ab", 1}, {"c", 1}}), structure_number(Map{{"a", 1}, {"bc", 1}}));
  using Nested = std::vector<Lists>;
  EXPECT_NE(structure_number(Nested{Lists(1), Lists(2)}), structure_number(Nested{Lists(2), Lists(1)}));
  EXPECT_NE(structure_number(Nested{Lists(), Lists()}), structure_number(Nested{Lists()})) << "without leaves, too";
}

enum class Part : signed char { weights = -1, bias = 2 };

TEST_P(WithReplicas, KeysAreAllThatHasAnOrderAndAText) {
  MirroredStrategy strategy = mirrored(replicas());
  using Place = std::tuple<Part, std::pair<int, std::string>>;
  const auto results = strategy.run([] {
    return std::tuple(std::map<Part, int>{{Part::weights, 1}, {Part::bias, 2}},
                      std::map<Place, int>{{{Part::bias, {3, "a"}}, id()}}, std::map<std::string_view, int>{{"b", 4}},
                      std::map<float16_t, int>{{float16_t(0.5F), 5}});
  });
  EXPECT_THAT(paths_of(results[0]), ElementsAre("[0][-1]", "[0][2]", "[1][(2, (3, a))]", "[2][b]", "[3][0.5]"));
  EXPECT_EQ(std::get<1>(strategy.reduce(ReduceOp::sum, results)).begin()->second, sum_of_ids());
}

TEST_P(WithSeveralReplicas, KeysThatAreFloatingPointNumbersAreComparedExactly) {
  MirroredStrategy strategy = mirrored(replicas());
  using Keyed = std::map<double, int>;
  expect_error(ErrorCode::mismatch, "where replica 0 has [1e-09], replica 1 has [2e-09]", [&] {
    strategy.run([] { return Keyed{{1e-9 * (id() == 0 ? 1 : 2), 1}}; });
  });
  EXPECT_EQ(strategy.run([] { return Keyed{{id() == 0 ? 0.0 : -0.0, 1}}; })[1].size(), 1U) << "one key for a map";
}

TEST(Structure, NumbersTellPartsOfKeysApart) {
  using Pairs = std::map<std::pair<std::string, std::string>, int>;
  using detail::structure_number;
  EXPECT_NE(structure_number(Pairs{{{"a, b", "c"}, 1}}), structure_number(Pairs{{{"a", "b, c"}, 1}}));
  EXPECT_EQ(structure_number(Pairs{{{"a", "b"}, 1}}), structure_number(Pairs{{{"a", "b"}, 2}}));
}

}  // namespace
}  // namespace chorus::test
