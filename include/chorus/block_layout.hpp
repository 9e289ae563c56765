// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>

namespace chorus {

/// Where the blocks of a buffer lie, one block for each rank, in elements. A view: what it is made of must outlive the
/// call that takes it, and nothing more.
struct BlockLayout {
  std::span<const std::size_t> counts;         ///< [size]
  std::span<const std::size_t> displacements;  ///< [size], from the buffer's beginning; empty: one after another

  /// No blocks: for a rank that gives and gets none, where the collective asks only the root for a layout.
  BlockLayout() = default;

  /// From a vector, array, ... of counts, and of displacements.
  template <class Counts>
  requires std::convertible_to<const Counts&, std::span<const std::size_t>> BlockLayout(
      const Counts& block_counts,  // NOLINT(google-explicit-constructor): counts alone are a layout
      std::span<const std::size_t> block_displacements = {})
      : counts(block_counts), displacements(block_displacements) {}

  /// Counts of MPI's type do not compile; this says why.
  template <std::ranges::range Counts>
  requires std::integral<std::ranges::range_value_t<Counts>> &&
      (!std::convertible_to<const Counts&, std::span<const std::size_t>>)
          BlockLayout(const Counts& /*counts*/,  // NOLINT(google-explicit-constructor)
                      std::span<const std::size_t> /*displacements*/ = {}) {
    static_assert(sizeof(Counts) == 0, "counts are std::size_t; copy them into a vector of it");
  }
};

}  // namespace chorus
