// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/detail/leaf_types.hpp>
#include <chorus/strategies/structure.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// A structure whose leaves all have a first dimension, of the same length: its rows. So a batch of examples is kept.
template <class B>
concept BatchStructure = std::default_initializable<B> && std::copyable<B> && detail::every_leaf<detail::HasRows, B>();

namespace detail {

/// Copies row rows[i] of `from` to row first + i of `to`, for all i: the first dimension apart, both have one shape.
CHORUS_API void gather_rows(const TensorRef& from, std::span<const std::size_t> rows, const TensorRef& to,
                            std::size_t first);

/// The paths of the leaves, for messages: called where there is one.
using Paths = std::function<std::vector<std::string>()>;

/// The length of the first dimension of all `leaves`.
/// Throws   Error{invalid_argument}, which names two of them, where they differ.
CHORUS_API std::size_t common_rows(const std::vector<TensorRef>& leaves, const Paths& paths);

/// Throws   Error{invalid_argument} unless `row`, the leaf number `leaf`, has the type and shape of each of the rows of
///          `batch`.
CHORUS_API void check_row(const TensorRef& row, const TensorRef& batch, std::size_t element, std::size_t leaf,
                          const Paths& paths);
CHORUS_API void check_leaves(std::size_t of_batch, std::size_t of_element);
/// Throws   Error{invalid_argument}, which names the first leaf that only one has.
[[noreturn]] CHORUS_API void reject_structure(std::size_t element, const std::vector<std::string>& its_leaves,
                                              const std::vector<std::string>& leaves_before);

/// Throws   Error{invalid_argument} unless `part`, the element number `element` of a batch, has vectors of the lengths
///          and maps of the keys of `before`.
template <class T>
void check_structure(const T& part, const T& before, std::size_t element) {
  if constexpr (may_differ<T>()) {
    if (structure_number(part) != structure_number(before)) reject_structure(element, paths_of(part), paths_of(before));
  }
}

/// What TensorRef has no type for: memory that is only read.
template <class T>
std::vector<TensorRef> tensors_to_read(const T& structure) {
  return tensors_of(const_cast<T&>(structure));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

template <BatchStructure B>
void gather(const B& from, std::span<const std::size_t> rows, B& to, std::size_t first) {
  const std::vector<TensorRef> sources = tensors_to_read(from);
  const std::vector<TensorRef> targets = tensors_of(to);
  check_structure(from, to, first);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!rows.empty()) check_row(sources[i], targets[i], first, i, [&] { return paths_of(from); });
    gather_rows(sources[i], rows, targets[i], first);
  }
}

inline std::vector<std::size_t> numbers(std::size_t first, std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

}  // namespace detail

/// The number of rows of `batch`.
/// Throws   Error{invalid_argument}, which names two leaves, where they have different numbers of rows.
template <BatchStructure B>
[[nodiscard]] std::size_t row_count(const B& batch) {
  return detail::common_rows(detail::tensors_to_read(batch), [&] { return paths_of(batch); });
}

/// A batch of `rows` rows, zero everywhere, which are otherwise as those of `like`.
template <BatchStructure B>
[[nodiscard]] B zero_rows(const B& like, std::size_t rows) {
  const auto zero = [rows](const auto& leaf) {
    using Traits = LeafTraits<std::remove_cvref_t<decltype(leaf)>>;
    Shape shape = Traits::shape(leaf);
    shape.front() = rows;
    return Traits::make(shape);
  };
  return map_structure(zero, like);
}

/// Rows `first` to first + count - 1 of `batch`.
template <BatchStructure B>
[[nodiscard]] B slice_rows(const B& batch, std::size_t first, std::size_t count) {
  B slice = zero_rows(batch, count);
  detail::gather(batch, detail::numbers(first, count), slice, 0);
  return slice;
}

/// The rows of all `batches`, of which there is one or more, in their order.
/// Throws   Error{invalid_argument} where their rows have different shapes, or their maps different keys.
template <BatchStructure B>
[[nodiscard]] B concatenate(std::span<const B> batches) {
  std::size_t rows = 0;
  for (const B& batch : batches) rows += row_count(batch);
  B joined = zero_rows(batches.front(), rows);
  std::size_t first = 0;
  for (const B& batch : batches) {
    const std::size_t count = row_count(batch);
    detail::gather(batch, detail::numbers(0, count), joined, first);
    first += count;
  }
  return joined;
}

}  // namespace chorus
