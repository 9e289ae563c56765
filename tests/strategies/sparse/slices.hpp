// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/counting.hpp"
#include "core/replicas.hpp"

#include <chorus/strategies/indexed_slices.hpp>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

// Slices that are drawn alike on every worker, and what they add up to, found one after the other.
namespace chorus::test {

using Table = Tensor<float, 2>;
using TableSlices = IndexedSlices<Table>;
using ListSlices = IndexedSlices<std::vector<float>>;

/// Slices of a list.
inline ListSlices list_slices(std::vector<std::int64_t> indices, std::vector<float> values, std::size_t length = 10) {
  return {std::move(values), std::move(indices), {length}};
}

/// How slices are drawn.
struct Draw {
  std::size_t rows = 40;
  std::size_t columns = 3;
  double density = 0.1;  ///< the part of the rows that a replica has
  unsigned seed = 1;
};

/// The slices of each replica: of whole numbers, so that no sum is rounded; every fourth replica has none, and others
/// some rows twice, in no order.
inline std::vector<TableSlices> drawn(const Draw& draw, int replicas) {
  std::mt19937 random(draw.seed);
  std::vector<TableSlices> all;
  for (int replica = 0; replica < replicas; ++replica) {
    std::vector<std::int64_t> indices;
    const auto wanted = static_cast<std::size_t>(draw.density * static_cast<double>(draw.rows));
    for (std::size_t i = 0; replica % 4 != 1 && i < wanted; ++i) {
      indices.push_back(static_cast<std::int64_t>(random() % draw.rows));
    }
    Table values({indices.size(), draw.columns});
    for (float& value : values.values()) value = static_cast<float>(static_cast<int>(random() % 19) - 9);
    all.emplace_back(std::move(values), std::move(indices), Shape{draw.rows, draw.columns});
  }
  return all;
}

/// The sum of all, divided by `divisor`.
inline TableSlices summed(const std::vector<TableSlices>& all, float divisor = 1) {
  const Shape shape = all.front().dense_shape;
  std::map<std::int64_t, std::vector<float>> rows;
  for (const TableSlices& slices : all) {
    for (std::size_t i = 0; i < slices.indices.size(); ++i) {
      std::vector<float>& row = rows[slices.indices[i]];
      row.resize(shape[1]);
      for (std::size_t k = 0; k < shape[1]; ++k) row[k] += slices.values(i, k);
    }
  }
  TableSlices sum(Table({rows.size(), shape[1]}), {}, shape);
  for (const auto& [index, row] : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) sum.values(sum.indices.size(), k) = row[k] / divisor;
    sum.indices.push_back(index);
  }
  return sum;
}

/// 1 * 2 * ... * n.
inline float factorial(int n) {
  float product = 1;
  for (int i = 2; i <= n; ++i) product *= static_cast<float>(i);
  return product;
}

template <Leaf T>
void expect_same(const IndexedSlices<T>& found, const IndexedSlices<T>& expected) {
  EXPECT_EQ(found.indices, expected.indices);
  EXPECT_EQ(found.dense_shape, expected.dense_shape);
  EXPECT_TRUE(found.values == expected.values);
}

}  // namespace chorus::test
