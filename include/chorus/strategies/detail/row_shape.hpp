// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/batch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace chorus::detail {

/// The lengths of the rows of a batch, one leaf after the other: what workers tell one that has no data. A (10, 28, 28)
/// and a (10): 28, 28.
template <BatchStructure B>
[[nodiscard]] std::vector<std::int64_t> row_shape_of(const B& batch) {
  std::vector<std::int64_t> lengths;
  for (const TensorRef& leaf : tensors_to_read(batch)) {
    lengths.insert(lengths.end(), leaf.shape.begin() + 1, leaf.shape.end());
  }
  return lengths;
}

/// A batch without rows, whose rows are of `row_shape`. Where it has not as many lengths, as none is known or the
/// number of the leaves is not that of B's type, they are 0.
template <BatchStructure B>
[[nodiscard]] B batch_without_rows(std::span<const std::int64_t> row_shape) {
  B batch{};
  const bool known = row_shape_of(batch).size() == row_shape.size();
  auto length = row_shape.begin();
  for_each_leaf(batch, [&](auto& leaf, const LeafPath& /*path*/) {
    using Traits = LeafTraits<std::remove_reference_t<decltype(leaf)>>;
    Shape shape(Traits::rank, 0);
    for (std::size_t i = 1; i < shape.size() && known; ++i) shape[i] = static_cast<std::size_t>(*length++);
    leaf = Traits::make(shape);
  });
  return batch;
}

}  // namespace chorus::detail
