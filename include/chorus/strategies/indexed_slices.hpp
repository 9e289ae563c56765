// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/leaf.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// A few rows of a tensor of type `T`, whose other rows are zero, with their indices in its first dimension: what the
/// gradient of a table is of which some rows were looked up.
///
/// What uses them checks them: Error{invalid_argument} where there is not one index for each row, where the rows are
/// not as long as those of `dense_shape`, or an index is none of its rows.
template <Leaf T>
struct IndexedSlices {
  static_assert(LeafTraits<T>::rank >= 1, "a single value has no rows");
  using Values = typename LeafTraits<T>::Variable;

  IndexedSlices() = default;
  IndexedSlices(Values rows, std::vector<std::int64_t> row_indices, Shape shape)
      : values(std::move(rows)), indices(std::move(row_indices)), dense_shape(std::move(shape)) {}

  Values values = {};                      ///< [n, ...]
  std::vector<std::int64_t> indices = {};  ///< [n], in any order; rows with the same index are added up
  Shape dense_shape = {};                  ///< [rows, ...] of the whole tensor
};

namespace detail {
template <class T>
inline constexpr bool is_indexed_slices = false;
template <class T>
inline constexpr bool is_indexed_slices<IndexedSlices<T>> = true;
}  // namespace detail

/// IndexedSlices without their type: what reductions work on. Does not own them.
class SlicesRef {
 public:
  template <Leaf T>
  explicit SlicesRef(IndexedSlices<T>& slices)
      : slices_(&slices),
        indices_(&slices.indices),
        dense_shape_(&slices.dense_shape),
        values_([](void* each) { return tensor_ref(static_cast<IndexedSlices<T>*>(each)->values); }),
        resize_([](void* each, std::size_t rows) {
          auto& [values, indices, dense_shape] = *static_cast<IndexedSlices<T>*>(each);
          Shape shape = dense_shape;
          shape.front() = rows;
          values = LeafTraits<typename IndexedSlices<T>::Values>::make(shape);
          indices.resize(rows);
        }) {}

  [[nodiscard]] std::vector<std::int64_t>& indices() const noexcept { return *indices_; }
  [[nodiscard]] const Shape& dense_shape() const noexcept { return *dense_shape_; }
  /// The rows there are now.
  [[nodiscard]] TensorRef values() const { return values_(slices_); }
  /// Makes it `rows` rows, zero everywhere.
  void resize(std::size_t rows) const { resize_(slices_, rows); }

 private:
  void* slices_;
  std::vector<std::int64_t>* indices_;
  const Shape* dense_shape_;
  TensorRef (*values_)(void*);
  void (*resize_)(void*, std::size_t);
};

/// The slices of every local replica, in their order.
using ReplicaSlices = std::vector<SlicesRef>;

namespace detail {

/// Throws   Error{invalid_argument} where the slices are not as IndexedSlices says; `where` begins the text.
CHORUS_API void check_slices(const SlicesRef& slices, const std::string& where);
/// Sorts the rows by their indices and adds those of one index up, in their order.
CHORUS_API void sum_duplicates(const SlicesRef& slices);
/// Adds `from` to `to`, which then has each index once. Both are of one type and dense_shape.
CHORUS_API void add_slices(const SlicesRef& to, const SlicesRef& from);

/// Calls `join(element, given)` for each element of the rows of `tensor` that `slices` name, row by row in the order of
/// the indices. The slices have been checked, and `tensor` has their dense_shape.
template <Leaf T, class Join>
void join_slices(T& tensor, const IndexedSlices<T>& slices, const Join& join) {
  using Values = LeafTraits<typename IndexedSlices<T>::Values>;
  static_assert(Values::order == LeafTraits<T>::order);
  const std::size_t given_rows = slices.indices.size();
  const std::size_t rows = slices.dense_shape.front();
  const std::size_t length = given_rows == 0 ? 0 : element_count(Values::shape(slices.values)) / given_rows;
  const bool rows_lie_together = LeafTraits<T>::order == StorageOrder::row_major;
  ScalarOf<T>* const to = LeafTraits<T>::data(tensor);
  const ScalarOf<T>* const from = Values::data(slices.values);
  for (std::size_t i = 0; i < given_rows; ++i) {
    const auto row = static_cast<std::size_t>(slices.indices[i]);
    for (std::size_t k = 0; k < length; ++k) {
      if (rows_lie_together)
        join(to[row * length + k], from[i * length + k]);
      else
        join(to[row + k * rows], from[i + k * given_rows]);
    }
  }
}

template <Leaf T>
SlicesRef slices_to_read(const IndexedSlices<T>& slices) {
  return SlicesRef(const_cast<IndexedSlices<T>&>(slices));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace detail

/// The same slices sorted by their indices, those of one index added up.
template <Leaf T>
[[nodiscard]] IndexedSlices<T> sum_duplicates(IndexedSlices<T> slices) {
  detail::check_slices(SlicesRef(slices), "sum_duplicates");
  detail::sum_duplicates(SlicesRef(slices));
  return slices;
}

/// `dense` with the slices added to their rows: what the gradient of a tensor is that is used both as a whole and by
/// rows.
/// Throws   Error{invalid_argument} where the slices are of another shape than `dense`.
template <Leaf T>
[[nodiscard]] T add(T dense, const IndexedSlices<T>& slices) {
  detail::check_slices(detail::slices_to_read(slices), "add");
  if (slices.dense_shape != LeafTraits<T>::shape(dense)) {
    throw Error(ErrorCode::invalid_argument, "add: slices of a tensor of shape " + to_string(slices.dense_shape) +
                                                 " are added to one of shape " +
                                                 to_string(LeafTraits<T>::shape(dense)) + ": give those of one shape");
  }
  detail::join_slices(dense, slices, [](ScalarOf<T>& to, ScalarOf<T> by) { to = static_cast<ScalarOf<T>>(to + by); });
  return dense;
}

/// The whole tensor, zero in the rows that are not among the slices.
template <Leaf T>
[[nodiscard]] T to_dense(const IndexedSlices<T>& slices) {
  detail::check_slices(detail::slices_to_read(slices), "to_dense");
  return add(LeafTraits<T>::make(slices.dense_shape), slices);
}

}  // namespace chorus
