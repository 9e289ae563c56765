// SPDX-License-Identifier: Apache-2.0
#include "sparse/rows.hpp"

#include "cross_device_ops/reduction.hpp"

#include <chorus/strategies/batch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace chorus {
namespace {

bool each_once_in_order(const std::vector<std::int64_t>& indices) {
  return std::ranges::adjacent_find(indices, std::greater_equal<>()) == indices.end();
}

/// The places of `indices` sorted by them, those of one index in their order.
std::vector<std::size_t> order_of(const std::vector<std::int64_t>& indices) {
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t place) { return indices[place]; });
  return order;
}

/// The rows `values` of the indices in `all`, sorted; rows of one index are added up in their order.
Rows sorted_and_summed(const Rows& all, const TensorRef& values) {
  const std::vector<std::size_t> order = order_of(all.indices);
  const std::size_t bytes = all.row_bytes();
  Rows sums{.type = all.type, .dense_shape = all.dense_shape};
  for (const std::size_t place : order) sums.indices.push_back(all.indices[place]);
  sums.values.resize(order.size() * bytes);
  detail::gather_rows(values, order, sums.tensor(), 0);

  TensorRef sum = sums.tensor(0, 1);
  TensorRef next = sum;
  std::size_t last = 0;
  for (std::size_t row = 1; row < order.size(); ++row) {
    next.data = sums.values.data() + row * bytes;
    if (sums.indices[row] == sums.indices[last]) {
      reduce_tensor_into(sum, next, ReduceOp::sum);
    } else {
      sums.indices[++last] = sums.indices[row];
      sum.data = sums.values.data() + last * bytes;
      if (last != row && bytes != 0) std::memcpy(sum.data, next.data, bytes);
    }
  }
  sums.indices.resize(last + 1);
  sums.values.resize(sums.indices.size() * bytes);
  return sums;
}

}  // namespace

std::size_t Rows::row_bytes() const noexcept {
  std::size_t bytes = size_of(type);
  for (std::size_t i = 1; i < dense_shape.size(); ++i) bytes *= dense_shape[i];
  return bytes;
}

TensorRef Rows::tensor(std::size_t first, std::size_t count) const {
  TensorRef tensor{.type = type, .shape = dense_shape};
  tensor.shape.front() = count;
  tensor.data = const_cast<std::byte*>(values.data()) + first * row_bytes();  // as TensorRef has no type for reading
  return tensor;
}

Rows rows_of(const SlicesRef& slices, Duplicates duplicates) {
  const TensorRef values = slices.values();
  Rows rows{.type = values.type, .dense_shape = slices.dense_shape(), .indices = slices.indices()};
  if (duplicates == Duplicates::summed && !each_once_in_order(rows.indices)) return sorted_and_summed(rows, values);
  rows.values.resize(values.bytes());
  detail::gather_rows(values, detail::numbers(0, rows.indices.size()), rows.tensor(), 0);
  return rows;
}

void put_rows(const TensorRef& tensor, std::span<const std::size_t> rows, const std::vector<std::int64_t>& indices,
              const SlicesRef& slices) {
  slices.resize(indices.size());
  slices.indices() = indices;
  detail::gather_rows(tensor, rows, slices.values(), 0);
}

Rows joined(std::span<const Rows* const> parts, Duplicates duplicates) {
  Rows all{.type = parts.front()->type, .dense_shape = parts.front()->dense_shape};
  for (const Rows* part : parts) {
    all.indices.insert(all.indices.end(), part->indices.begin(), part->indices.end());
    all.values.insert(all.values.end(), part->values.begin(), part->values.end());
  }
  if (duplicates == Duplicates::kept || each_once_in_order(all.indices)) return all;
  return sorted_and_summed(all, all.tensor());
}

std::vector<std::int64_t> indices_in(std::span<const Rows* const> parts) {
  std::vector<std::int64_t> indices;
  for (const Rows* part : parts) indices.insert(indices.end(), part->indices.begin(), part->indices.end());
  std::ranges::sort(indices);
  const auto repeated = std::ranges::unique(indices);
  indices.erase(repeated.begin(), repeated.end());
  return indices;
}

namespace detail {

void sum_duplicates(const SlicesRef& slices) {
  if (each_once_in_order(slices.indices())) return;
  const Rows rows = rows_of(slices, Duplicates::summed);
  put_rows(rows.tensor(), numbers(0, rows.indices.size()), rows.indices, slices);
}

void add_slices(const SlicesRef& to, const SlicesRef& from) {
  const Rows own = rows_of(to, Duplicates::kept);
  const Rows other = rows_of(from, Duplicates::kept);
  const Rows* const parts[] = {&own, &other};
  const Rows sums = joined(parts, Duplicates::summed);
  put_rows(sums.tensor(), numbers(0, sums.indices.size()), sums.indices, to);
}

}  // namespace detail
}  // namespace chorus
