// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/leaf.hpp>

#include <Eigen/Core>
#include <cstddef>
#include <type_traits>
#include <unsupported/Eigen/CXX11/Tensor>
#include <utility>

namespace chorus {

namespace detail {
/// The LeafTraits of a matrix or an array: `Of` is Eigen::Matrix or Eigen::Array.
template <template <class, int, int, int, int, int> class Of, Number T, int Rows, int Columns, int Options, int MaxRows,
          int MaxColumns>
struct EigenTraits {
  using Matrix = Of<T, Rows, Columns, Options, MaxRows, MaxColumns>;
  template <int SomeRows, int SomeColumns, int SomeOptions>
  using Sized = Of<T, SomeRows, SomeColumns, SomeOptions, SomeRows, SomeColumns>;
  static constexpr bool is_row = Rows == 1 && Columns != 1;
  static constexpr bool is_column = Columns == 1;
  using Scalar = T;
  using Variable = Sized<is_row ? 1 : Eigen::Dynamic, is_column ? 1 : Eigen::Dynamic, Options>;
  static constexpr int rank = is_row || is_column ? 1 : 2;
  template <int K>
  requires(K >= 1 &&
           K <= rank) using Less = std::conditional_t<K == rank, T, Sized<Eigen::Dynamic, 1, Eigen::ColMajor>>;
  using More = std::conditional_t<rank == 1, Sized<Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                                  Eigen::Tensor<T, 3, Eigen::RowMajor>>;
  static constexpr StorageOrder order = Matrix::IsRowMajor != 0 ? StorageOrder::row_major : StorageOrder::column_major;

  static Shape shape(const Matrix& matrix) {
    if constexpr (rank == 1)
      return {static_cast<std::size_t>(matrix.size())};
    else
      return {static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols())};
  }
  static T* data(Matrix& matrix) noexcept { return matrix.data(); }
  static const T* data(const Matrix& matrix) noexcept { return matrix.data(); }
  static Matrix make(const Shape& shape) {
    const auto first = static_cast<Eigen::Index>(shape.at(0));
    if constexpr (is_column)
      return Matrix::Zero(first, 1);
    else if constexpr (is_row)
      return Matrix::Zero(1, first);
    else
      return Matrix::Zero(first, static_cast<Eigen::Index>(shape.at(1)));
  }
};

}  // namespace detail

/// Eigen's matrices, vectors and arrays as leaves of the strategies: those of one row or column have one dimension, all
/// others two.
template <Number T, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
struct LeafTraits<Eigen::Matrix<T, Rows, Columns, Options, MaxRows, MaxColumns>>
    : detail::EigenTraits<Eigen::Matrix, T, Rows, Columns, Options, MaxRows, MaxColumns> {};
template <Number T, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
struct LeafTraits<Eigen::Array<T, Rows, Columns, Options, MaxRows, MaxColumns>>
    : detail::EigenTraits<Eigen::Array, T, Rows, Columns, Options, MaxRows, MaxColumns> {};

/// Eigen's tensors.
template <Number T, int Rank, int Options, class Index>
struct LeafTraits<Eigen::Tensor<T, Rank, Options, Index>> {
  using Tensor = Eigen::Tensor<T, Rank, Options, Index>;
  using Scalar = T;
  using Variable = Tensor;
  template <int K>
  requires(K >= 1 &&
           K <= Rank) using Less = std::conditional_t<K == Rank, T, Eigen::Tensor<T, Rank - K, Options, Index>>;
  using More = Eigen::Tensor<T, Rank + 1, Options, Index>;
  static constexpr int rank = Rank;
  static constexpr StorageOrder order =
      (Options & Eigen::RowMajor) != 0 ? StorageOrder::row_major : StorageOrder::column_major;

  static Shape shape(const Tensor& tensor) {
    Shape shape;
    for (int i = 0; i < Rank; ++i) shape.push_back(static_cast<std::size_t>(tensor.dimension(i)));
    return shape;
  }
  static T* data(Tensor& tensor) noexcept { return tensor.data(); }
  static const T* data(const Tensor& tensor) noexcept { return tensor.data(); }
  static Tensor make(const Shape& shape) {
    Eigen::array<Index, static_cast<std::size_t>(Rank)> lengths;
    for (std::size_t i = 0; i < Rank; ++i) lengths[i] = static_cast<Index>(shape.at(i));
    Tensor tensor(lengths);
    tensor.setZero();
    return tensor;
  }
};

}  // namespace chorus
