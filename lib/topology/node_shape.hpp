// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "topology/binding.hpp"

namespace chorus {

/// Equal groups of equal groups, from the inside out: {8, 4, 2} is 2 packages of 4 domains of 8 ranks. A plain value.
struct Radices {
  std::array<int, level_count> of = {};  ///< each 2 or more; what lies beyond `levels` is 0
  int levels = 0;                        ///< 0: the ranks are not divided; never 1

  /// The ranks of one group of `level`, which is what stands between two ranks whose digits of this level differ while
  /// those further out are equal; 1 for level 0.
  [[nodiscard]] constexpr int stride(int level) const noexcept {
    int ranks = 1;
    for (int inner = 0; inner < level; ++inner) ranks *= of[static_cast<std::size_t>(inner)];
    return ranks;
  }
  [[nodiscard]] constexpr int radix(int level) const noexcept { return of[static_cast<std::size_t>(level)]; }

  friend bool operator==(const Radices&, const Radices&) = default;
};

/// How packages, NUMA domains and L3 caches divide the ranks of one node, where they do so evenly.
///
/// Each rank has a position, whose digits in the mixed radix say where it is: the innermost is its place in its domain.
/// On 2 packages of 2 ranks, dealt to the packages in turn, ranks 0 1 2 3 have the positions 0 2 1 3.
class NodeShape {
 public:
  NodeShape() = default;
  /// Of ranks bound so. A level that divides them unevenly is left out, as is one that divides no group of the level
  /// before it, or leaves groups of one rank. The same bindings give the same shape.
  [[nodiscard]] static NodeShape of(std::span<const Binding> bindings);
  /// Of ranks in the order of their positions; not divided where the radices `wanted` are not for so many ranks.
  [[nodiscard]] static NodeShape pretended(std::span<const int> wanted, int ranks);

  [[nodiscard]] const Radices& radices() const noexcept { return radices_; }
  [[nodiscard]] int position(int rank) const noexcept { return positions_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int rank_at(int position) const noexcept { return ranks_[static_cast<std::size_t>(position)]; }

 private:
  NodeShape(const Radices& radices, std::vector<int> ranks);

  Radices radices_;
  std::vector<int> ranks_;  // by position
  std::vector<int> positions_;
};

}  // namespace chorus
