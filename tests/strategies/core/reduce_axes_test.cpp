// SPDX-License-Identifier: Apache-2.0
// Reductions over axes: of every type, over every dimension, and how exact they are.
#include "core/counting.hpp"
#include "core/replicas.hpp"

#include <chorus/float16.hpp>
#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/tensor.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Numbers of all sizes, whose sum is rounded differently in each order.
template <class T>
std::vector<T> uneven_numbers(std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<T> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const float next = std::ldexp(number(random), static_cast<int>(i % 13));
    if constexpr (std::same_as<T, std::complex<double>>)
      numbers.emplace_back(next, number(random));
    else
      numbers.push_back(T(next));
  }
  return numbers;
}

TEST(ReduceAxes, Case41_AveragesOfManyNumbersLoseNoDigits) {
  MirroredStrategy strategy = mirrored(2);
  constexpr std::size_t many = 1'000'000;
  const auto floats = strategy.run([] { return std::vector<float>(many, 0.1F); });
  EXPECT_EQ(strategy.reduce(ReduceOp::average, floats, 0), 0.1F);
  const auto doubles = strategy.run([] { return std::vector<double>(many, 0.1); });
  EXPECT_DOUBLE_EQ(strategy.reduce(ReduceOp::average, doubles, 0), 0.1);
  const auto columns = strategy.run([] { return Tensor<double, 2>({many / 2, 2}, std::vector<double>(many, 0.1)); });
  for (const double each : strategy.reduce(ReduceOp::average, columns, 0)) EXPECT_DOUBLE_EQ(each, 0.1);
}

TEST(ReduceAxes, Case41_WhatIsRoundedAwayComesBack) {
  MirroredStrategy strategy = mirrored(1);
  Tensor<double, 2> columns({3000, 2});
  for (std::size_t row = 0; row < 3000; ++row) {
    const double numbers[] = {1e16, 1, -1e16};
    columns(row, 0) = columns(row, 1) = numbers[row % 3];
  }
  EXPECT_THAT(strategy.reduce(ReduceOp::sum, per_replica<Tensor<double, 2>>(strategy, {columns}), 0), Each(1000));
}

TEST(ReduceAxes, Case41_InfinitiesAndWhatIsNotANumber) {
  MirroredStrategy strategy = mirrored(2);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto sum_of = [&](double one, double other, auto zero) {
    const std::vector<decltype(zero)> numbers{1, static_cast<decltype(zero)>(one), 2};
    const std::vector<decltype(zero)> others{1, static_cast<decltype(zero)>(other), 2};
    return strategy.reduce(ReduceOp::sum, per_replica<std::vector<decltype(zero)>>(strategy, {numbers, others}), 0);
  };
  EXPECT_EQ(sum_of(infinity, 1, 0.0F), static_cast<float>(infinity));
  EXPECT_EQ(sum_of(1, -infinity, 0.0), -infinity);
  EXPECT_TRUE(std::isnan(sum_of(infinity, -infinity, 0.0)));
  EXPECT_TRUE(std::isnan(sum_of(std::nan(""), infinity, 0.0F)));
  const Tensor<double, 2> columns({2, 2}, {infinity, 1, 1, 1});
  const auto sums = strategy.reduce(ReduceOp::sum, per_replica<Tensor<double, 2>>(strategy, {columns, columns}), 0);
  EXPECT_THAT(sums, ElementsAre(infinity, 4));
}

/// The bits of reproducible reductions of `all` rows, two numbers each, over R replicas.
template <class T>
std::vector<T> reproducible_reductions(const std::vector<T>& all, int replicas) {
  MirroredStrategy strategy = mirrored(replicas, nullptr, {.reproducible = true});
  const std::size_t own = all.size() / static_cast<std::size_t>(replicas);
  const auto part = [&](int i) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(own) * i;
    return Tensor<T, 2>({own / 2, 2}, std::vector<T>(first, first + static_cast<std::ptrdiff_t>(own)));
  };
  const auto parts = per_replica(strategy, list_of(replicas, part));
  std::vector<T> results;
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average}) {
    const std::vector<T> columns = strategy.reduce(op, parts, 0);
    results.insert(results.end(), columns.begin(), columns.end());
    results.push_back(strategy.reduce(op, parts, {0, 1}));
  }
  return results;
}

template <class T>
void expect_reproducible() {
  const std::vector<T> all = uneven_numbers<T>(16'000);
  const std::vector<T> of_one = reproducible_reductions(all, 1);
  for (const int replicas : {2, 4, 8}) EXPECT_EQ(reproducible_reductions(all, replicas), of_one);
}

TEST(ReduceAxes, Case206_ReproducibleSumsHaveTheSameBitsOnAnyNumberOfReplicas) {
  expect_reproducible<float>();
  expect_reproducible<double>();
  expect_reproducible<float16_t>();
  expect_reproducible<bfloat16_t>();
  expect_reproducible<std::complex<double>>();
}

TEST(ReduceAxes, Case206_LongResultsAreReproducible) {
  MirroredStrategy strategy = mirrored(2, nullptr, {.reproducible = true});
  constexpr std::size_t columns = (1U << 16U) + 3;  // more than are summed up at once
  const auto rows = strategy.run([] {
    Tensor<float, 2> mine({3, columns});
    for (std::size_t i = 0; i < mine.size(); ++i) mine.values()[i] = static_cast<float>(i % columns);
    return mine;
  });
  const std::vector<float> sums = strategy.reduce(ReduceOp::sum, rows, 0);
  for (std::size_t i = 0; i < columns; ++i) ASSERT_EQ(sums[i], static_cast<float>(6 * i));
}

TEST(ReduceAxes, ShortFloatingPointNumbersByEveryOperation) {
  MirroredStrategy strategy = mirrored(2);
  const auto expect = [&]<class T>(T /*type*/) {
    const auto values = per_replica<std::vector<T>>(strategy, {{T(1.0F), T(-7.0F)}, std::vector<T>(6, T(3.0F))});
    EXPECT_EQ(static_cast<float>(strategy.reduce(ReduceOp::sum, values, 0)), 12.0F);
    EXPECT_EQ(static_cast<float>(strategy.reduce(ReduceOp::average, values, 0)), 1.5F);
    EXPECT_EQ(static_cast<float>(strategy.reduce(ReduceOp::min, values, 0)), -7.0F);
    EXPECT_EQ(static_cast<float>(strategy.reduce(ReduceOp::max, values, 0)), 3.0F);
    const auto many = strategy.run([] { return std::vector<T>(100'000, T(2.0F)); });
    EXPECT_EQ(static_cast<float>(strategy.reduce(ReduceOp::average, many, 0)), 2.0F);
  };
  expect(float16_t());
  expect(bfloat16_t());
}

/// A little more than half a step beside 1, which float does not have.
TEST(ReduceAxes, SumsOfShortNumbersAreRoundedOnce) {
  MirroredStrategy strategy = mirrored(2);
  const auto expect = [&]<class T>(T /*type*/, float half_step, float little) {
    for (const float sign : {1.0F, -1.0F}) {
      const auto sum_of = [&](float one, float more) {
        const auto values = per_replica<std::vector<T>>(strategy, {{T(sign * one)}, {T(half_step * sign), T(more)}});
        return sign * static_cast<float>(strategy.reduce(ReduceOp::sum, values, 0));
      };
      EXPECT_EQ(sum_of(1, sign * little), 1 + 2 * half_step);
      EXPECT_EQ(sum_of(1, 0), 1) << "to even";
      EXPECT_EQ(sum_of(1 + 2 * half_step, -sign * little), 1 + 2 * half_step);
      EXPECT_EQ(sum_of(1 + 2 * half_step, 0), 1 + 4 * half_step) << "to even";
    }
  };
  expect(float16_t(), 0x1p-11F, 0x1p-24F);
  expect(bfloat16_t(), 0x1p-8F, 0x1p-40F);
}

/// The sum of `tensor`, of shape (2, 3, 4) in either order of memory, over the dimensions that `left_out` names, by a
/// loop over its elements; in row-major order.
template <class At>
std::vector<double> sum_by_hand(const At& at, const std::array<bool, 3>& left_out) {
  const std::array<std::size_t, 3> shape{2, 3, 4};
  std::size_t count = 1;
  for (std::size_t i = 0; i < 3; ++i) count *= left_out[i] ? 1 : shape[i];
  std::vector<double> sums(count);
  for (std::size_t i = 0; i < 24; ++i) {
    const std::array<std::size_t, 3> index{i / 12, i / 4 % 3, i % 4};
    std::size_t place = 0;
    for (std::size_t d = 0; d < 3; ++d) place = left_out[d] ? place : place * shape[d] + index[d];
    sums[place] += at(index[0], index[1], index[2]);
  }
  return sums;
}

double numbered(std::size_t i, std::size_t j, std::size_t k) { return static_cast<double>(100 * i + 10 * j + k); }

TEST(ReduceAxes, Case46_EveryChoiceOfDimensionsInBothOrdersOfMemory) {
  MirroredStrategy strategy = mirrored(1);
  Tensor<double, 3> rows({2, 3, 4});
  Eigen::Tensor<double, 3> columns(2, 3, 4);
  for (std::size_t i = 0; i < 24; ++i) {
    rows.values()[i] = numbered(i / 12, i / 4 % 3, i % 4);
    columns(static_cast<int>(i / 12), static_cast<int>(i / 4 % 3), static_cast<int>(i % 4)) = rows.values()[i];
  }
  const auto of_rows = per_replica<Tensor<double, 3>>(strategy, {rows});
  const auto of_columns = per_replica<Eigen::Tensor<double, 3>>(strategy, {columns});
  for (int axis = 0; axis < 3; ++axis) {
    const std::vector<double> by_hand = sum_by_hand(numbered, {axis == 0, axis == 1, axis == 2});
    EXPECT_THAT(strategy.reduce(ReduceOp::sum, of_rows, axis).values(), testing::ElementsAreArray(by_hand));
    const Eigen::Tensor<double, 2> less = strategy.reduce(ReduceOp::sum, of_columns, axis);
    for (int i = 0; i < less.size(); ++i) {
      const int width = static_cast<int>(less.dimension(1));
      EXPECT_EQ(less(i / width, i % width), by_hand[static_cast<std::size_t>(i)]);
    }
    const int other = (axis + 1) % 3;
    const int last = 3 - axis - other;
    const std::vector<double> of_two = sum_by_hand(numbered, {last != 0, last != 1, last != 2});
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, of_rows, {axis, other}), of_two);
    const Eigen::Tensor<double, 1> least = strategy.reduce(ReduceOp::sum, of_columns, {axis, other});
    for (int i = 0; i < least.size(); ++i) EXPECT_EQ(least(i), of_two[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(strategy.reduce(ReduceOp::max, of_rows, {0, 1, 2}), 123);
}

TEST(ReduceAxes, ComplexNumbersByTheirParts) {
  MirroredStrategy strategy = mirrored(2);
  using Complex = std::complex<float>;
  const Tensor<Complex, 2> one({2, 2}, {Complex(1, 2), Complex(3, 4), Complex(5, 6), Complex(7, 8)});
  const auto values = per_replica<Tensor<Complex, 2>>(strategy, {one, one});
  EXPECT_THAT(strategy.reduce(ReduceOp::average, values, 0), ElementsAre(Complex(3, 4), Complex(5, 6)));
  EXPECT_THAT(strategy.reduce(ReduceOp::sum, values, 1), ElementsAre(Complex(8, 12), Complex(24, 28)));
  EXPECT_EQ(strategy.reduce(ReduceOp::average, values, {0, 1}), Complex(4, 5));
}

TEST(ReduceAxes, OnlyWhereItMattersHowManyElementsThereAreTheyAreCounted) {
  for (const auto& [op, expected] : {std::pair(ReduceOp::sum, 1), {ReduceOp::average, 2}, {ReduceOp::min, 2}}) {
    int reductions = 0;
    MirroredStrategy strategy = mirrored(2, std::make_unique<Counting>(reductions));
    std::ignore = strategy.reduce(op, strategy.run([] { return std::vector<float>{1, 2}; }), 0);
    EXPECT_EQ(reductions, expected) << name(op);
  }
}

TEST(ReduceAxes, WholeNumbersAndLongDouble) {
  MirroredStrategy strategy = mirrored(2);
  const auto bytes = strategy.run([] { return std::vector<std::int8_t>{1, -5, 60}; });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, bytes, 0), 112);
  EXPECT_EQ(strategy.reduce(ReduceOp::min, bytes, 0), -5);
  const auto large = strategy.run([] { return std::vector<std::int64_t>{(std::int64_t{1} << 60) + 1, 2}; });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, large, 0), (std::int64_t{1} << 61) + 6);
  const auto longs = strategy.run([] { return std::vector<long double>(1000, 0.25L); });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, longs, 0), 500.0L);
}

}  // namespace
}  // namespace chorus::test
