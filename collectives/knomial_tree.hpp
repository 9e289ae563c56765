// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/transport.hpp"

#include <algorithm>

namespace chorus {

/// One rank's part in the tree in which a rank has up to three children for each one that it has in a binomial tree.
/// Places are ranks counted from the root, which is place 0, and written with the digits 0 to 3; a place's parent has
/// its last digit that is not 0 cleared:
///
///   p = 6:  place 0 has the children 1, 2, 3 and 4 (10 in this writing);  4 has 5 (11).
///
/// The messages between a place and its children of one level are under way together. Where such a further message
/// takes a quarter of a latency, no other number than three takes less time; where it takes half, a binomial tree is as
/// fast.
class KnomialTree {
 public:
  static constexpr int radix = 4;
  static constexpr int at_once = radix - 1;  ///< children that are served at a time

  KnomialTree(const Transport& transport, int root) noexcept
      : ranks_(transport.size()), root_(root), place_((transport.rank() - root + ranks_) % ranks_), reach_(1) {
    while (reach_ < ranks_ && place_ % (radix * reach_) == 0) reach_ *= radix;
  }

  [[nodiscard]] bool is_root() const noexcept { return place_ == 0; }
  /// The rank of the parent, of any but the root.
  [[nodiscard]] int parent() const noexcept { return rank_at(place_ - place_ % (radix * reach_)); }
  [[nodiscard]] int children() const noexcept { return children_within(std::min(reach_, ranks_ - place_)); }
  /// The rank of child i, in the order of the places; the last child has the largest subtree or one as large.
  [[nodiscard]] int child(int i) const noexcept { return rank_at(place_ + distance(i)); }

  /// From a place to its child i.
  [[nodiscard]] static int distance(int i) noexcept { return (i % at_once + 1) << (2 * (i / at_once)); }
  /// Children of the root: no place has more.
  [[nodiscard]] static int most_children(int ranks) noexcept { return children_within(ranks); }

 private:
  /// Children of a place that are less than so many places behind it.
  [[nodiscard]] static int children_within(int places) noexcept {
    int children = 0;
    while (distance(children) < places) ++children;
    return children;
  }
  [[nodiscard]] int rank_at(int place) const noexcept { return (place + root_) % ranks_; }

  int ranks_;
  int root_;
  int place_;
  int reach_;  // the places of this one's subtree, if the ranks go so far
};

}  // namespace chorus
