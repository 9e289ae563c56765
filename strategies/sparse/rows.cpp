// SPDX-License-Identifier: Apache-2.0
#include "sparse/rows.hpp"

#include "cross_device_ops/reduction.hpp"

#include <chorus/strategies/batch.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace chorus {
namespace {

bool each_once_in_order(const std::vector<std::int64_t>& indices) {
  return std::ranges::adjacent_find(indices, std::greater_equal<>()) == indices.end();
}

DataType type_of_rows(DataType given) { return has_16_bits(given) ? DataType::float32 : given; }

/// A tensor like `tensor`, but of `type`, whose elements are in `memory`.
TensorRef like(const TensorRef& tensor, DataType type, std::vector<std::byte>& memory) {
  memory.resize(tensor.count() * size_of(type));
  TensorRef other = tensor;
  other.type = type;
  other.data = memory.data();
  return other;
}

template <class From, class To>
void convert(const TensorRef& from, const TensorRef& to) {
  const auto* const in = reinterpret_cast<const From*>(from.data);
  auto* const out = reinterpret_cast<To*>(to.data);
  for (std::size_t i = 0; i < from.count(); ++i) out[i] = static_cast<To>(static_cast<float>(in[i]));
}

/// Converts float16 or bfloat16 to float.
void widen(const TensorRef& from, const TensorRef& to) {
  return from.type == DataType::float16 ? convert<float16_t, float>(from, to) : convert<bfloat16_t, float>(from, to);
}
/// Converts float to float16 or bfloat16.
void narrow(const TensorRef& from, const TensorRef& to) {
  return to.type == DataType::float16 ? convert<float, float16_t>(from, to) : convert<float, bfloat16_t>(from, to);
}

/// A row of some index, and its number among those that are sorted.
using Numbered = std::pair<std::int64_t, std::size_t>;

/// All rows of `parts`, sorted by their indices, those of one index added up in the order of the parts.
Rows sorted_and_summed(std::span<const Rows* const> parts) {
  Rows sums = parts.front()->none();
  const std::size_t bytes = sums.row_bytes();
  std::vector<Numbered> order;
  std::vector<const std::byte*> rows;
  for (const Rows* part : parts) {
    for (std::size_t row = 0; row < part->indices.size(); ++row) {
      order.emplace_back(part->indices[row], order.size());
      rows.push_back(part->values.data() + row * bytes);
    }
  }
  std::sort(order.begin(), order.end());
  sums.indices.reserve(order.size());
  sums.values.reserve(order.size() * bytes);  // so that `sum` stays where it is
  TensorRef sum = sums.tensor(0, 1);
  TensorRef next = sum;
  for (const auto& [index, number] : order) {
    if (sums.indices.empty() || sums.indices.back() != index) {
      sum.data = sums.values.data() + sums.values.size();
      sums.indices.push_back(index);
      sums.values.insert(sums.values.end(), rows[number], rows[number] + bytes);
    } else {
      next.data = const_cast<std::byte*>(rows[number]);  // as TensorRef has no type for reading
      reduce_tensor_into(sum, next, ReduceOp::sum);
    }
  }
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
  TensorRef values = slices.values();
  Rows rows{.type = type_of_rows(values.type),
            .given = values.type,
            .dense_shape = slices.dense_shape(),
            .indices = slices.indices()};
  std::vector<std::byte> floats;
  if (rows.type != rows.given) {
    const TensorRef wide = like(values, rows.type, floats);
    widen(values, wide);
    values = wide;
  }
  rows.values.resize(values.bytes());
  detail::gather_rows(values, detail::numbers(0, rows.indices.size()), rows.tensor(), 0);
  if (duplicates == Duplicates::kept || each_once_in_order(rows.indices)) return rows;
  const Rows* const all = &rows;
  return sorted_and_summed(std::span(&all, 1));
}

void put_rows(const TensorRef& tensor, std::span<const std::size_t> rows, const std::vector<std::int64_t>& indices,
              const SlicesRef& slices) {
  slices.resize(indices.size());
  slices.indices() = indices;
  const TensorRef values = slices.values();
  if (values.type == tensor.type) return detail::gather_rows(tensor, rows, values, 0);
  std::vector<std::byte> floats;
  const TensorRef wide = like(values, tensor.type, floats);
  detail::gather_rows(tensor, rows, wide, 0);
  narrow(wide, values);
}

Rows joined(std::span<const Rows* const> parts, Duplicates duplicates) {
  if (duplicates == Duplicates::summed) return sorted_and_summed(parts);
  Rows all = parts.front()->none();
  for (const Rows* part : parts) {
    all.indices.insert(all.indices.end(), part->indices.begin(), part->indices.end());
    all.values.insert(all.values.end(), part->values.begin(), part->values.end());
  }
  return all;
}

std::vector<std::int64_t> indices_in(std::span<const Rows* const> parts) {
  std::vector<std::int64_t> all;
  std::vector<std::int64_t> joined;
  for (const Rows* part : parts) {
    joined.clear();
    std::set_union(all.begin(), all.end(), part->indices.begin(), part->indices.end(), std::back_inserter(joined));
    all.swap(joined);
  }
  return all;
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
