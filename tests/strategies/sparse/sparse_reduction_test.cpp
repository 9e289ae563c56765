// SPDX-License-Identifier: Apache-2.0
#include "sparse/slices.hpp"
#include "sparse/slices_reduction.hpp"

#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/variable.hpp>

#include <complex>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Sparse, Case70_SlicesOfDifferentLengthsAreAddedUp) {
  MirroredStrategy strategy = mirrored(2);
  const auto values =
      per_replica<ListSlices>(strategy, {list_slices({0}, {1}, 3), list_slices({0, 1, 2}, {2, 3, 4}, 3)});
  const ListSlices sum = strategy.reduce(ReduceOp::sum, values);
  EXPECT_THAT(sum.indices, ElementsAre(0, 1, 2));
  EXPECT_THAT(sum.values, ElementsAre(3, 3, 4));
  EXPECT_THAT(to_dense(sum), ElementsAre(3, 3, 4));
  const auto one = per_replica<ListSlices>(strategy, {list_slices({}, {}, 3), list_slices({2}, {5}, 3)});
  const ListSlices only = strategy.reduce(ReduceOp::sum, one);
  EXPECT_THAT(only.indices, ElementsAre(2));
  EXPECT_THAT(only.values, ElementsAre(5));
}

TEST(Sparse, Case86_AnAverageIsOverTheReplicas) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<ListSlices>(strategy, {list_slices({0}, {2}), list_slices({0}, {4})});
  const auto average = strategy.extended().reduce_to(ReduceOp::average, values);
  for (const ListSlices& each : average.values()) {
    EXPECT_THAT(each.indices, ElementsAre(0));
    EXPECT_THAT(each.values, ElementsAre(3));
  }
}

TEST(Sparse, Case71_SlicesOnOneReplicaAndATensorOnTheOther) {
  MirroredStrategy strategy = mirrored(2);
  expect_error(ErrorCode::mismatch, "", [&] {
    strategy.run([] {
      if (id() == 0)
        std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, std::vector<float>(10));
      else
        std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, list_slices({0}, {1}));
    });
  });
}

TEST(Sparse, Case64_SlicesAreNotGathered) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<ListSlices>(strategy, {list_slices({0}, {2}), list_slices({0}, {4})});
  expect_error(ErrorCode::not_supported, "to_dense", [&] { std::ignore = strategy.gather(values, 0); });
  expect_error(ErrorCode::not_supported, "to_dense", [&] {
    strategy.run([](const ListSlices& mine) { std::ignore = get_replica_context()->all_gather(mine, 0); }, values);
  });
}

class SparseReduction : public WithReplicas {};

/// The dense ways and the sparse one, in the replicas and outside of them.
TEST_P(SparseReduction, SlicesAddUpAsTheyDoOneAfterTheOther) {
  for (const double density : {0.0, 0.03, 0.1, 0.4, 1.0, 3.0}) {
    int whole_tensors = 0;
    MirroredStrategy strategy = mirrored(replicas(), std::make_unique<Counting>(whole_tensors));
    const std::vector<TableSlices> all =
        drawn({.density = density, .seed = static_cast<unsigned>(replicas())}, replicas());
    for (const auto& [op, divisor] : {std::pair(ReduceOp::sum, 1.0F), {ReduceOp::average, float(replicas())}}) {
      const TableSlices expected = summed(all, divisor);
      const auto outside = strategy.extended().reduce_to(op, per_replica(strategy, all));
      const auto inside =
          strategy.run([op = op](const TableSlices& mine) { return get_replica_context()->all_reduce(op, mine); },
                       per_replica(strategy, all));
      for (const TableSlices& each : outside.values()) expect_same(each, expected);
      for (const TableSlices& each : inside.values()) expect_same(each, expected);
    }
    if (density <= 0.03 || replicas() == 1) {
      EXPECT_EQ(whole_tensors, 0) << density;
    }
    if (density >= 3 && replicas() > 2) {
      EXPECT_EQ(whole_tensors, 4) << density;
    }
  }
}

TEST_P(SparseReduction, StructuresOfTensorsAndSlices) {
  struct Gradients {
    std::vector<double> dense;
    std::vector<ListSlices> tables;
    TableSlices embedding;
  };
  MirroredStrategy strategy = mirrored(replicas());
  const std::vector<TableSlices> drawn_slices = drawn({.density = 1}, replicas());
  const auto sums = strategy.run([&] {
    const auto one = static_cast<float>(id() + 1);
    Gradients mine{{1.0 * id(), 2},
                   {list_slices({id()}, {one}), list_slices({9, 9}, {one, 1})},
                   drawn_slices[static_cast<std::size_t>(id())]};
    get_replica_context()->all_reduce_in_place(ReduceOp::sum, mine);
    return mine;
  });
  const auto all = static_cast<std::size_t>(replicas());
  for (const Gradients& each : sums.values()) {
    EXPECT_THAT(each.dense, ElementsAre(replicas() * (replicas() - 1) / 2, 2 * replicas()));
    ASSERT_EQ(each.tables[0].indices.size(), all);
    for (std::size_t i = 0; i < all; ++i) EXPECT_EQ(each.tables[0].values[i], static_cast<float>(i + 1));
    EXPECT_THAT(each.tables[1].values, ElementsAre(replicas() * (replicas() + 1) / 2 + replicas()));
    expect_same(each.embedding, summed(drawn_slices));
  }
  const Gradients outside = strategy.reduce(ReduceOp::average, sums);
  expect_same(outside.embedding, summed(drawn_slices));
  EXPECT_EQ(strategy.extended().batch_reduce_to(ReduceOp::average, std::vector{sums, sums})[1][0].dense[1],
            2 * replicas());
}

INSTANTIATE_TEST_SUITE_P(Replicas, SparseReduction, testing::Values(1, 2, 3, 4, 8));

TEST(Sparse, WhatMovesFewerBytesIsDone) {
  EXPECT_FALSE(dense_moves_less(0, 100, 4));
  EXPECT_FALSE(dense_moves_less(66, 100, 4)) << "66 * 12 bytes against 2 * 400";
  EXPECT_TRUE(dense_moves_less(67, 100, 4));
  EXPECT_FALSE(dense_moves_less(196, 100, 512));
  EXPECT_TRUE(dense_moves_less(197, 100, 512)) << "197 * 520 bytes against 2 * 51200";
  EXPECT_FALSE(dense_moves_less(0, 0, 4));
}

TEST(Sparse, WholeTensorsLeaveOutTheSameRows) {
  int whole_tensors = 0;
  MirroredStrategy strategy = mirrored(2, std::make_unique<Counting>(whole_tensors));
  const ListSlices most = list_slices({0, 1, 2, 3, 4, 5, 6, 8}, {1, 1, 1, 1, 1, 1, 1, -1});
  ListSlices opposite = most;
  for (float& value : opposite.values) value = -value;
  const ListSlices sum = strategy.reduce(ReduceOp::sum, per_replica<ListSlices>(strategy, {most, opposite}));
  EXPECT_EQ(whole_tensors, 1);
  EXPECT_EQ(sum.indices, most.indices) << "also where the sum is zero, but not 7 and 9";
  EXPECT_THAT(sum.values, testing::Each(0));
}

TEST(Sparse, OneReplicaAddsItsOwnDuplicatesUp) {
  MirroredStrategy strategy = mirrored(1);
  const ListSlices sum =
      strategy.reduce(ReduceOp::sum, per_replica<ListSlices>(strategy, {list_slices({7, 2, 7}, {1, 2, 3})}));
  EXPECT_THAT(sum.indices, ElementsAre(2, 7));
  EXPECT_THAT(sum.values, ElementsAre(2, 4));
}

template <class T>
void check_type(const T& one) {
  MirroredStrategy strategy = mirrored(3);
  const auto sums = strategy.run([&] {
    const IndexedSlices<Tensor<T, 3>> mine(Tensor<T, 3>({2, 1, 2}, {one, one, one, one}), {5, 3}, {100, 1, 2});
    return get_replica_context()->all_reduce(ReduceOp::sum, mine);
  });
  for (const auto& each : sums.values()) {
    EXPECT_THAT(each.indices, ElementsAre(3, 5));
    for (const T& value : each.values.values()) EXPECT_EQ(value, static_cast<T>(one + one + one));
  }
}

TEST(Sparse, EveryKindOfNumber) {
  check_type<std::int8_t>(2);
  check_type<std::uint64_t>(std::uint64_t{1} << 40U);
  check_type<double>(0.5);
  check_type<long double>(0.25L);
  check_type(float16_t(0.5F));
  check_type(bfloat16_t(1.5F));
  check_type(std::complex<float>(1, 2));
}

/// Every replica has `value` in two of `rows` rows, and so has the average of all, rounded once.
template <class T>
void check_average_of_halves(int replicas, std::size_t rows, float value) {
  MirroredStrategy strategy = mirrored(replicas);
  using Halves = IndexedSlices<std::vector<T>>;
  const auto averages = strategy.run([&] {
    return get_replica_context()->all_reduce(ReduceOp::average, Halves({T(value), T(value)}, {2, 3}, {rows}));
  });
  for (const Halves& each : averages.values()) {
    EXPECT_THAT(each.indices, ElementsAre(2, 3));
    EXPECT_THAT(each.values, testing::Each(T(value)));
  }
}

TEST(Sparse, AveragesOf16BitsAreRoundedOnce) {
  for (const std::size_t rows : {std::size_t{4}, std::size_t{1000}}) {  // as a whole tensor, and by rows
    for (const int replicas : {2, 3, 8}) {
      check_average_of_halves<float16_t>(replicas, rows, 60000);
      check_average_of_halves<float16_t>(replicas, rows, 0.1F);
      check_average_of_halves<bfloat16_t>(replicas, rows, 3e37F);
      check_average_of_halves<bfloat16_t>(replicas, rows, 0.1F);
    }
  }
}

TEST(Sparse, ReproducibleSumsAreInTheOrderOfTheReplicas) {
  constexpr float big = 1e8F;
  MirroredStrategy strategy = mirrored(3, nullptr, {.reproducible = true});
  const auto values =
      per_replica<ListSlices>(strategy, {list_slices({4}, {1}), list_slices({4}, {big}), list_slices({4}, {-big})});
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, values).values[0], 0) << "1 + 1e8 is 1e8";
}

TEST(Sparse, OtherOperationsAreRefused) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = per_replica<ListSlices>(strategy, {list_slices({0}, {2}), list_slices({0}, {4})});
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
    expect_error(ErrorCode::not_supported, "reduce to_dense(slices)",
                 [&] { std::ignore = strategy.reduce(op, values); });
    expect_error(ErrorCode::not_supported, "reduce to_dense(slices)",
                 [&] { std::ignore = strategy.reduce(op, list_slices({1}, {1})); });
    expect_error(ErrorCode::not_supported, "by sum or average only", [&] {
      strategy.run([op](const ListSlices& mine) { std::ignore = get_replica_context()->all_reduce(op, mine); }, values);
    });
  }
  using Integers = IndexedSlices<std::vector<int>>;
  const auto integers = per_replica<Integers>(strategy, {Integers({1}, {0}, {4}), Integers({1}, {0}, {4})});
  expect_error(ErrorCode::invalid_argument, "is no integer",
               [&] { std::ignore = strategy.reduce(ReduceOp::average, integers); });
  expect_error(ErrorCode::invalid_argument, "the same on all 2 replicas",
               [&] { std::ignore = strategy.reduce(ReduceOp::sum, list_slices({1}, {1})); });
  expect_same(strategy.reduce(ReduceOp::average, list_slices({1}, {1})), list_slices({1}, {1}));
}

TEST(Sparse, SlicesThatAreNoneOfATensorAreRefused) {
  MirroredStrategy strategy = mirrored(2);
  const auto expect_refused = [&](const TableSlices& slices, const std::string& text) {
    expect_error(ErrorCode::invalid_argument, text, [&] {
      strategy.run([&] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, slices); });
    });
    expect_error(ErrorCode::invalid_argument, text, [&] {
      std::ignore = strategy.reduce(ReduceOp::sum, per_replica<TableSlices>(strategy, {slices, slices}));
    });
    expect_error(ErrorCode::invalid_argument, text, [&] { std::ignore = to_dense(slices); });
    expect_error(ErrorCode::invalid_argument, text, [&] { std::ignore = sum_duplicates(slices); });
  };
  expect_refused({Table({2, 3}), {0, 4}, {4, 3}},
                 "the index 4 (number 1 of them) of a tensor of 4 rows: give indices from 0 to 3");
  expect_refused({Table({1, 3}), {-1}, {4, 3}}, "the index -1");
  expect_refused({Table({2, 3}), {0}, {4, 3}}, "2 rows and 1 indices");
  expect_refused({Table({1, 2}), {0}, {4, 3}}, "values of shape (1, 2) of a tensor of shape (4, 3)");
  expect_refused({Table({1, 3}), {0}, {4}}, "dense_shape (4) has 1 dimensions");
  expect_error(ErrorCode::invalid_argument, "slices of different tensors", [&] {
    std::ignore = strategy.reduce(
        ReduceOp::sum, per_replica<ListSlices>(strategy, {list_slices({0}, {1}, 4), list_slices({0}, {1}, 5)}));
  });
  expect_error(ErrorCode::mismatch, "different numbers of IndexedSlices", [&] {
    strategy.run([] {
      std::vector<ListSlices> some(static_cast<std::size_t>(id() + 1), list_slices({0}, {1}));
      get_replica_context()->all_reduce_in_place(ReduceOp::sum, some);
    });
  });
}

TEST(Sparse, TensorsWithoutRowsOrColumns) {
  MirroredStrategy strategy = mirrored(2);
  const TableSlices no_rows(Table({0, 3}), {}, {0, 3});
  EXPECT_THAT(strategy.reduce(ReduceOp::sum, per_replica<TableSlices>(strategy, {no_rows, no_rows})).indices,
              IsEmpty());
  const TableSlices no_columns(Table({2, 0}), {3, 1}, {4, 0});
  EXPECT_THAT(strategy.reduce(ReduceOp::sum, per_replica<TableSlices>(strategy, {no_columns, no_columns})).indices,
              ElementsAre(1, 3));
}

TEST(Sparse, AnInvocationOfRunReturnsSlices) {
  MirroredStrategy strategy = mirrored(2);
  const auto values = strategy.run([] { return std::map<std::string, ListSlices>{{"a", list_slices({id()}, {1})}}; });
  EXPECT_THAT(values[1].at("a").indices, ElementsAre(1));
  expect_error(ErrorCode::mismatch, "structures of the replicas differ", [&] {
    std::ignore = strategy.run([] { return std::vector<ListSlices>(static_cast<std::size_t>(id())); });
  });
}

TEST(Sparse, MixedUseOfATensorIsDenseWithTheSum) {
  EXPECT_THAT(add(std::vector<float>{1, 1, 1}, list_slices({2, 0, 2}, {5, 6, 7}, 3)), ElementsAre(7, 1, 13));
  expect_error(ErrorCode::invalid_argument, "give those of one shape", [] {
    std::ignore = add(std::vector<float>{1, 1}, list_slices({2}, {5}, 3));
  });
  const ListSlices sorted = sum_duplicates(list_slices({2, 0, 2}, {5, 6, 7}, 3));
  EXPECT_THAT(sorted.indices, ElementsAre(0, 2));
  EXPECT_THAT(sorted.values, ElementsAre(6, 12));
}

}  // namespace
}  // namespace chorus::test
