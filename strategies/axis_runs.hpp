// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/leaf.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chorus::detail {

/// Where the elements of a tensor go when some of its dimensions are reduced away, in runs that lie side by side in
/// memory: all elements of a run go to one element of the result, or each to the next one.
///
///   (2, 3) over axis 1: two runs of three, to elements 0 and 1   over axis 0: two runs of three, both to 0, 1, 2
///
/// Complex numbers are two elements each here, which go to two.
class AxisRuns {
 public:
  /// `result_order`: of the result's memory.
  /// Throws   Error{invalid_argument} where an axis is no dimension of the tensor, or is named twice.
  AxisRuns(std::span<const int> axes, const TensorRef& tensor, StorageOrder result_order);

  /// Of the result.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  /// Of the result, in all.
  [[nodiscard]] std::size_t result_count() const noexcept { return result_count_; }
  /// Elements of the tensor for each of the result.
  [[nodiscard]] std::uint64_t joined() const noexcept { return joined_; }
  /// That are reduced away, as in StrategyCall.
  [[nodiscard]] std::uint8_t dimensions() const noexcept { return dimensions_; }
  /// Elements of each run.
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  /// Whether each element of a run goes to the next one of the result.
  [[nodiscard]] bool kept() const noexcept { return kept_; }

  /// add(first element of the run, the first element of the result that it goes to) for each run, in the order of
  /// memory.
  template <class Add>
  void for_each(const Add& add) const {
    std::vector<std::size_t> place(outer_.size(), 0);
    std::size_t to = 0;
    for (std::size_t from = 0; from < count_; from += length_) {
      add(from, to);
      for (std::size_t i = 0; i < outer_.size(); ++i) {
        to += outer_[i].step;
        if (++place[i] < outer_[i].length) break;
        to -= outer_[i].step * outer_[i].length;
        place[i] = 0;
      }
    }
  }

 private:
  struct Dimension {
    std::size_t length = 1;
    std::size_t step = 0;  ///< from one to the next, in the result; 0: it is reduced away
  };
  /// Makes `next` the slowest dimension so far.
  void append(const Dimension& next);

  Shape shape_;
  std::uint64_t joined_ = 1;
  std::uint8_t dimensions_ = 0;
  std::size_t count_ = 0;
  std::size_t result_count_ = 1;
  std::size_t length_ = 1;
  bool kept_ = false;
  std::vector<Dimension> outer_;  // the fastest first
};

}  // namespace chorus::detail
