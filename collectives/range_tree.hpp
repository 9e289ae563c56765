// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/transport.hpp"

#include <algorithm>

namespace chorus {

/// One place in a tree in which the places of every subtree follow one another: first its top, then the subtrees of the
/// top's children, at most `degree`, which divide the rest evenly; the longer ones come first. Place 0 is the root.
///
///   degree 1, a chain:          0 - 1 - 2 - 3 - 4 - 5
///   degree 2, a binary tree:    0 has the children 1 (its subtree: 1 2 3) and 4 (4 5);  1 has 2 and 3;  4 has 5.
class RangeTree {
 public:
  static constexpr int highest_degree = 3;

  RangeTree(int place, int places, int degree) noexcept : degree_(degree), range_{0, places} {
    while (range_.first != place) {
      parent_ = range_.first;
      int i = 0;
      while (place >= range_of(i).end()) ++i;
      range_ = range_of(i);
    }
  }

  /// No place has more children than the root, and none has more places below it than the root's first child.
  [[nodiscard]] int children() const noexcept { return std::min(degree_, range_.size - 1); }
  /// Places; no_rank: the root has no parent.
  [[nodiscard]] int parent() const noexcept { return parent_; }
  [[nodiscard]] int child(int i) const noexcept { return range_of(i).first; }
  /// The places from this one on that are in its subtree.
  [[nodiscard]] int size() const noexcept { return range_.size; }

  /// Steps from the root to the farthest place.
  [[nodiscard]] static int depth(int places, int degree) noexcept {
    if (degree == 1) return places - 1;
    int steps = 0;
    for (; places > 1; ++steps) places = (places - 1 + degree - 1) / degree;
    return steps;
  }

 private:
  struct Range {
    int first;
    int size;
    [[nodiscard]] int end() const noexcept { return first + size; }
  };

  /// The subtree of child i.
  [[nodiscard]] Range range_of(int i) const noexcept {
    const int rest = range_.size - 1;
    const int each = rest / children();
    const int longer = rest % children();
    return {range_.first + 1 + i * each + std::min(i, longer), each + (i < longer ? 1 : 0)};
  }

  int degree_;
  Range range_;
  int parent_ = no_rank;
};

}  // namespace chorus
