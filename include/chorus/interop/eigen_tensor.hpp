// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <unsupported/Eigen/CXX11/Tensor>

namespace chorus {

namespace detail {
template <class T>
inline constexpr bool is_tensor = false;
template <Element T, int Rank, int Order, class Index>
inline constexpr bool is_tensor<Eigen::Tensor<T, Rank, Order, Index>> = true;
template <Element T, class Sizes, int Order, class Index>
inline constexpr bool is_tensor<Eigen::TensorFixedSize<T, Sizes, Order, Index>> = true;

template <class T>
inline constexpr bool is_tensor_map = false;
template <class Tensor, int Order, template <class> class Pointer>
inline constexpr bool is_tensor_map<Eigen::TensorMap<Tensor, Order, Pointer>> = is_tensor<std::remove_const_t<Tensor>>;
}  // namespace detail

/// The elements of a Tensor, TensorFixedSize or TensorMap in the order of memory, as an argument for every collective;
/// as for a matrix: see chorus/interop/eigen.hpp. Expressions have none: `Tensor<float, 3> sum = a + b;` first.
template <class Tensor>
requires detail::is_tensor<std::remove_cvref_t<Tensor>> || detail::is_tensor_map<std::remove_cvref_t<Tensor>>
[[nodiscard]] auto elements(Tensor&& tensor) {
  using Data = std::remove_pointer_t<decltype(tensor.data())>;
  constexpr bool lost_afterwards =
      !std::is_lvalue_reference_v<Tensor> && detail::is_tensor<std::remove_cvref_t<Tensor>>;
  return std::span<std::conditional_t<lost_afterwards, const Data, Data>>(tensor.data(),
                                                                          static_cast<std::size_t>(tensor.size()));
}

}  // namespace chorus
