// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/transport.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace chorus {

/// One rank's part in the binomial tree over all ranks. Places are ranks counted from the root, which is place 0. Child
/// i stands 2^i places behind its parent, and its subtree is the places from there up to 2^(i+1), or up to the last:
///
///   p = 6:  place 0 has the children 1, 2 (its subtree: 2 3) and 4 (4 5);  2 has 3;  4 has 5.
class BinomialTree {
 public:
  static constexpr int at_once = 1;  ///< children that are served at a time

  BinomialTree(const Transport& transport, int root) noexcept
      : ranks_(transport.size()), root_(root), place_((transport.rank() - root + ranks_) % ranks_) {}

  [[nodiscard]] int place() const noexcept { return place_; }
  [[nodiscard]] bool is_root() const noexcept { return place_ == 0; }
  /// The rank of the parent, of any but the root.
  [[nodiscard]] int parent() const noexcept { return rank_at(place_ - (place_ & -place_)); }
  [[nodiscard]] int children() const noexcept {
    const int possible = is_root() ? std::numeric_limits<int>::digits : std::countr_zero(unsigned_of(place_));
    return std::min(possible, static_cast<int>(std::bit_width(unsigned_of(ranks_ - 1 - place_))));
  }
  /// The rank of child i; the last child has the largest subtree.
  [[nodiscard]] int child(int i) const noexcept { return rank_at(child_place(i)); }
  /// The subtree of child i: the places from `child_place` up to, not including, `child_end`.
  [[nodiscard]] int child_place(int i) const noexcept { return place_ + distance(i); }
  [[nodiscard]] int child_end(int i) const noexcept { return std::min(child_place(i) + distance(i), ranks_); }
  /// The place behind this rank's own subtree.
  [[nodiscard]] int end() const noexcept { return is_root() ? ranks_ : std::min(place_ + (place_ & -place_), ranks_); }

  /// From a place to its child i.
  [[nodiscard]] static int distance(int i) noexcept { return 1 << i; }
  /// Children of the root: no place has more.
  [[nodiscard]] static int most_children(int ranks) noexcept { return depth(ranks); }
  /// Steps from the root to the farthest place: log2 of the ranks, rounded up.
  [[nodiscard]] static int depth(int ranks) noexcept {
    return static_cast<int>(std::bit_width(unsigned_of(ranks - 1)));
  }
  /// Places of the largest subtree of a child of the root; 0 where it has none.
  [[nodiscard]] static int largest_subtree(int ranks) noexcept {
    int largest = 0;
    for (int child = 1; child < ranks; child *= 2) largest = std::max(largest, std::min(child, ranks - child));
    return largest;
  }

 private:
  [[nodiscard]] static unsigned unsigned_of(int number) noexcept { return static_cast<unsigned>(number); }
  [[nodiscard]] int rank_at(int place) const noexcept { return (place + root_) % ranks_; }

  int ranks_;
  int root_;
  int place_;
};

}  // namespace chorus
