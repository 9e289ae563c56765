// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/strategies/shape.hpp>
#include <chorus/strategies/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace chorus {

/// Which dimension changes fastest in memory: the last one, or the first one.
enum class StorageOrder : std::uint8_t { row_major, column_major };

/// How the strategies see a tensor type: specialise it for your own. A number is a tensor without dimensions, a vector
/// of numbers has one, a Tensor its Rank; for Eigen's matrices and tensors include chorus/interop/eigen_leaf.hpp.
///
///     using Scalar       the type of the elements, a Number
///     rank               the number of dimensions
///     order              the StorageOrder
///     shape(tensor)      its Shape
///     data(tensor)       the first of its elements, which lie side by side; also of a const one
///     make(shape)        a tensor of that shape, zero everywhere
///     Variable           the tensor type of the same rank whose dimensions may have any length
///     Less<k>            the tensor type with k dimensions less
///     More               the tensor type with one dimension more: several of these along a new first one
template <class T>
struct LeafTraits;

template <Number T>
struct LeafTraits<T> {
  using Scalar = T;
  using Variable = T;
  using More = std::vector<T>;
  static constexpr int rank = 0;
  static constexpr StorageOrder order = StorageOrder::row_major;
  static Shape shape(const T& /*value*/) { return {}; }
  static T* data(T& value) noexcept { return &value; }
  static const T* data(const T& value) noexcept { return &value; }
  static T make(const Shape& /*shape*/) noexcept { return {}; }
};

template <Number T, class Allocator>
requires(!std::same_as<T, bool>) struct LeafTraits<std::vector<T, Allocator>> {
  using Scalar = T;
  using Variable = std::vector<T, Allocator>;
  using More = Tensor<T, 2>;
  template <int K>
  requires(K == 1) using Less = T;
  static constexpr int rank = 1;
  static constexpr StorageOrder order = StorageOrder::row_major;
  static Shape shape(const Variable& vector) { return {vector.size()}; }
  static T* data(Variable& vector) noexcept { return vector.data(); }
  static const T* data(const Variable& vector) noexcept { return vector.data(); }
  static Variable make(const Shape& shape) { return Variable(shape.at(0)); }
};

template <Number T, int Rank>
struct LeafTraits<Tensor<T, Rank>> {
  using Scalar = T;
  using Variable = Tensor<T, Rank>;
  using More = Tensor<T, Rank + 1>;
  template <int K>
  requires(K >= 1 && K <= Rank) using Less = typename detail::TensorOf<T, Rank - K>::Type;
  static constexpr int rank = Rank;
  static constexpr StorageOrder order = StorageOrder::row_major;
  static Shape shape(const Variable& tensor) { return tensor.shape(); }
  static T* data(Variable& tensor) noexcept { return tensor.data(); }
  static const T* data(const Variable& tensor) noexcept { return tensor.data(); }
  static Variable make(const Shape& shape) { return Variable(shape); }
};

/// A type that the strategies reduce, gather and keep in variables as one tensor.
template <class T>
concept Leaf = requires(std::remove_cv_t<T>& tensor, const Shape& shape) {
  requires Number<typename LeafTraits<std::remove_cv_t<T>>::Scalar>;
  { LeafTraits<std::remove_cv_t<T>>::shape(tensor) } -> std::same_as<Shape>;
  { LeafTraits<std::remove_cv_t<T>>::data(tensor) } -> std::same_as<typename LeafTraits<std::remove_cv_t<T>>::Scalar*>;
  { LeafTraits<std::remove_cv_t<T>>::make(shape) } -> std::same_as<std::remove_cv_t<T>>;
};

template <Leaf T>
using ScalarOf = typename LeafTraits<T>::Scalar;

/// A tensor's memory without its type: what CrossDeviceOps work on. Does not own it.
struct TensorRef {
  DataType type = DataType::float32;
  StorageOrder order = StorageOrder::row_major;
  Shape shape = {};
  std::byte* data = nullptr;

  [[nodiscard]] std::size_t count() const noexcept { return element_count(shape); }
  [[nodiscard]] std::size_t bytes() const noexcept { return count() * size_of(type); }
};

/// The memory of `leaf`.
template <Leaf T>
[[nodiscard]] TensorRef tensor_ref(T& leaf) {
  using Traits = LeafTraits<T>;
  return {data_type_of<typename Traits::Scalar>(), Traits::order, Traits::shape(leaf),
          reinterpret_cast<std::byte*>(Traits::data(leaf))};
}

}  // namespace chorus
