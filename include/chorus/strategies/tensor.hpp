// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/shape.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Numbers in `Rank` dimensions, the last one changing fastest in memory: what a batch of vectors is where no other
/// library's tensors are asked for.
template <Number T, int Rank>
requires(Rank >= 1 && !std::same_as<T, bool>) class Tensor {
 public:
  /// Without elements.
  Tensor() : shape_(Rank, 0) {}
  /// Zero everywhere.
  explicit Tensor(Shape shape) : shape_(std::move(shape)), values_(checked_count()) {}
  /// Throws   Error{invalid_argument} where `shape` does not have Rank lengths, or another number of elements.
  Tensor(Shape shape, std::vector<T> values) : shape_(std::move(shape)), values_(std::move(values)) {
    if (checked_count() == values_.size()) return;
    throw Error(ErrorCode::invalid_argument, "Tensor: " + std::to_string(values_.size()) + " values for the shape " +
                                                 to_string(shape_) + ": give " + std::to_string(element_count(shape_)));
  }

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] T* data() noexcept { return values_.data(); }
  [[nodiscard]] const T* data() const noexcept { return values_.data(); }
  /// The elements in the order of memory.
  [[nodiscard]] std::span<T> values() noexcept { return values_; }
  [[nodiscard]] std::span<const T> values() const noexcept { return values_; }

  template <std::integral... Index>
  requires(sizeof...(Index) == Rank) [[nodiscard]] T& operator()(Index... index) noexcept {
    return values_[place({static_cast<std::size_t>(index)...})];
  }
  template <std::integral... Index>
  requires(sizeof...(Index) == Rank) [[nodiscard]] const T& operator()(Index... index) const noexcept {
    return values_[place({static_cast<std::size_t>(index)...})];
  }

  bool operator==(const Tensor&) const = default;

 private:
  [[nodiscard]] std::size_t checked_count() const {
    if (shape_.size() != Rank) {
      throw Error(ErrorCode::invalid_argument, "Tensor: the shape " + to_string(shape_) + " has " +
                                                   std::to_string(shape_.size()) + " dimensions: give " +
                                                   std::to_string(Rank));
    }
    return element_count(shape_);
  }
  [[nodiscard]] std::size_t place(const std::size_t (&index)[static_cast<std::size_t>(Rank)]) const noexcept {
    std::size_t at = 0;
    for (std::size_t i = 0; i < Rank; ++i) at = at * shape_[i] + index[i];
    return at;
  }

  Shape shape_;
  std::vector<T> values_;
};

namespace detail {
/// The type of this library's own tensors with `Rank` dimensions.
template <Number T, int Rank>
struct TensorOf {
  using Type = Tensor<T, Rank>;
};
template <Number T>
struct TensorOf<T, 1> {
  using Type = std::vector<T>;
};
template <Number T>
struct TensorOf<T, 0> {
  using Type = T;
};
}  // namespace detail

}  // namespace chorus
