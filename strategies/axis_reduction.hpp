// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "axis_runs.hpp"

#include <chorus/exact_sum.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/leaf.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace chorus::detail {

/// What one replica has of a reduction over axes: the sum, min or max of its own elements. Sums of floating-point
/// numbers of up to 64 bits are kept as double until those of all replicas are added up.
class AxisPartial {
 public:
  /// `join`: sum, min or max.
  AxisPartial(ReduceOp join, const TensorRef& tensor, const AxisRuns& runs);
  /// Without elements yet, where `tensor` and others are summed up exactly.
  AxisPartial(const TensorRef& tensor, const AxisRuns& runs);

  [[nodiscard]] TensorRef tensor() { return {type_, StorageOrder::row_major, shape_, memory_.data()}; }
  /// Where it is of sums of floating-point numbers of up to 64 bits.
  [[nodiscard]] double* sums() { return reinterpret_cast<double*>(memory_.data()); }
  /// Writes its elements to `result`; where `averaged_over` is given, divided by it.
  void put(const TensorRef& result, std::optional<std::uint64_t> averaged_over) const;

 private:
  DataType type_;
  Shape shape_;
  std::size_t count_;
  std::vector<std::byte> memory_;
};

/// True of numbers whose sums ExactSum<double> can be.
[[nodiscard]] bool has_exact_sums(DataType type) noexcept;
/// Adds what `tensor` has for the elements of the result from number `first` on to `sums`.
void add_exactly(std::span<ExactSum<double>> sums, std::size_t first, const TensorRef& tensor, const AxisRuns& runs);

}  // namespace chorus::detail
