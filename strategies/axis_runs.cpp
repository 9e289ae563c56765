// SPDX-License-Identifier: Apache-2.0
#include "axis_runs.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/axes.hpp>

#include <fmt/format.h>

namespace chorus::detail {
namespace {

/// Which dimensions of `shape` the axes name.
std::vector<bool> named(std::span<const int> axes, const Shape& shape) {
  std::vector<bool> named(shape.size());
  for (const int axis : axes) {
    const std::size_t dimension = dimension_of(axis, shape, "Strategy::reduce");
    if (named[dimension]) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("Strategy::reduce: the axes name dimension {} twice: name each once", dimension));
    }
    named[dimension] = true;
  }
  return named;
}

std::size_t parts_of(DataType type) { return type == DataType::complex64 || type == DataType::complex128 ? 2 : 1; }

/// The dimensions of a tensor of `rank`, that which changes fastest in memory first.
std::vector<std::size_t> fastest_first(std::size_t rank, StorageOrder order) {
  std::vector<std::size_t> dimensions;
  for (std::size_t i = 0; i < rank; ++i) dimensions.push_back(order == StorageOrder::row_major ? rank - 1 - i : i);
  return dimensions;
}

}  // namespace

AxisRuns::AxisRuns(std::span<const int> axes, const TensorRef& tensor, StorageOrder result_order)
    : result_count_(parts_of(tensor.type)) {
  count_ = tensor.count() * result_count_;
  const std::vector<bool> reduced = named(axes, tensor.shape);
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::size_t length = tensor.shape[i];
    dimensions.push_back({length, 0});
    if (!reduced[i]) {
      shape_.push_back(length);
      continue;
    }
    joined_ *= length;
    dimensions_ = static_cast<std::uint8_t>(dimensions_ | dimension_bit(i));
  }
  append({result_count_, 1});
  for (const std::size_t dimension : fastest_first(tensor.shape.size(), result_order)) {
    if (reduced[dimension]) continue;
    dimensions[dimension].step = result_count_;
    result_count_ *= tensor.shape[dimension];
  }
  for (const std::size_t dimension : fastest_first(tensor.shape.size(), tensor.order)) append(dimensions[dimension]);
}

void AxisRuns::append(const Dimension& next) {
  if (next.length == 1) return;
  const bool begins = length_ == 1 && outer_.empty();
  if (begins) kept_ = next.step == 1;
  const bool goes_on = outer_.empty() && next.step == (kept_ ? length_ : 0);
  if (goes_on)
    length_ *= next.length;
  else
    outer_.push_back(next);
}

}  // namespace chorus::detail
