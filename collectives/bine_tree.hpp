// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fold.hpp"
#include "swing.hpp"
#include "transport/transport.hpp"

#include <bit>

namespace chorus {

/// One rank's part in the binomial tree whose ways are as short as those of Swing (swing.hpp): in each step, from the
/// farthest partners to the nearest, those that have been reached lead to their partners.
///
///   p = 8:  place 0 has the children 1, 7 and 3;  7 has 6;  3 has 2 and 4;  4 has 5.
///
/// Places are ranks counted from the root, which is place 0. Where they are no power of two (Fold) each of the ranks
/// that sit out is a further child of its partner.
class BineTree {
 public:
  static constexpr int at_once = 1;  ///< children that are served at a time

  BineTree(const Transport& transport, int root) noexcept
      : ranks_(transport.size()), root_(root), fold_((transport.rank() - root + ranks_) % ranks_, ranks_) {
    // The steps that lead here from place 0 begin and end the runs of ones in base -2.
    const auto digits = static_cast<unsigned>(negabinary(fold_.place(), fold_.core()));
    const unsigned way = digits ^ (digits >> 1);
    step_ = std::countr_zero(way == 0 ? static_cast<unsigned>(fold_.core()) : way);
  }

  [[nodiscard]] bool is_root() const noexcept { return !fold_.sits_out() && fold_.place() == 0; }
  /// The rank of the parent, of any but the root.
  [[nodiscard]] int parent() const noexcept {
    return rank_at(fold_.sits_out() ? fold_.partner() : fold_.rank_at(peer(step_)));
  }
  [[nodiscard]] int children() const noexcept { return fold_.sits_out() ? 0 : step_ + partners(); }
  /// The rank of child i; the last child has the largest subtree.
  [[nodiscard]] int child(int i) const noexcept {
    return rank_at(i < partners() ? fold_.partner() : fold_.rank_at(peer(i - partners())));
  }

  /// From the root to its child i, if it has no partner, and no farther than that.
  [[nodiscard]] static int distance(int i) noexcept { return Swing::reach(i); }
  /// Children of the root: no place has more.
  [[nodiscard]] static int most_children(int ranks) noexcept {
    return std::bit_width(static_cast<unsigned>(ranks - 1));
  }

 private:
  [[nodiscard]] int partners() const noexcept { return fold_.paired() ? 1 : 0; }
  [[nodiscard]] int peer(int step) const noexcept { return Swing::peer(fold_.place(), step, fold_.core()); }
  [[nodiscard]] int rank_at(int from_root) const noexcept { return (from_root + root_) % ranks_; }

  int ranks_;
  int root_;
  Fold fold_;
  int step_;  // in which this place is reached; children come in the steps before it
};

}  // namespace chorus
