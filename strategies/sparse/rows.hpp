// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/indexed_slices.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chorus {

/// What becomes of rows that have one index.
enum class Duplicates : std::uint8_t {
  summed,  ///< they are added up, and the rows are sorted by their indices
  kept     ///< nothing: they stay one after the other
};

/// IndexedSlices on their way between replicas: whole rows side by side in memory, row i of the index indices[i]. Those
/// of 16-bit numbers are floats here, so that sums and averages are rounded once.
struct Rows {
  DataType type = DataType::float32;   ///< of the values
  DataType given = DataType::float32;  ///< of the slices
  Shape dense_shape = {};
  std::vector<std::int64_t> indices = {};
  std::vector<std::byte> values = {};

  /// Rows like these, but none.
  [[nodiscard]] Rows none() const { return {.type = type, .given = given, .dense_shape = dense_shape}; }
  [[nodiscard]] std::size_t row_bytes() const noexcept;
  /// The rows first to first + count - 1.
  [[nodiscard]] TensorRef tensor(std::size_t first, std::size_t count) const;
  [[nodiscard]] TensorRef tensor() const { return tensor(0, indices.size()); }
};

/// The rows of `slices`, copied.
[[nodiscard]] Rows rows_of(const SlicesRef& slices, Duplicates duplicates);
/// Makes `slices` the rows of `indices` of `tensor`, which is of the type of Rows, and those their indices.
void put_rows(const TensorRef& tensor, std::span<const std::size_t> rows, const std::vector<std::int64_t>& indices,
              const SlicesRef& slices);

/// The rows of all `parts`, which are of one type and dense_shape, in the order of the parts; there is one or more.
[[nodiscard]] Rows joined(std::span<const Rows* const> parts, Duplicates duplicates);

/// The indices that occur in `parts`, each of which has been summed: sorted, each once.
[[nodiscard]] std::vector<std::int64_t> indices_in(std::span<const Rows* const> parts);

}  // namespace chorus
