// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocks.hpp"

#include <algorithm>
#include <cstddef>

namespace chorus {

/// A vector cut into segments of nearly equal length, of which none is much shorter than asked for where there are
/// several: the unit in which phases follow one another.
class Segments {
 public:
  /// Of `count` elements; the longest number of segments that have `least` each. All but the last have a multiple of
  /// `unit`.
  Segments(std::size_t count, std::size_t least, std::size_t unit) noexcept
      : count_(count),
        unit_(unit),
        number_(static_cast<int>(std::max<std::size_t>(1, count / std::max(least, unit)))),
        units_(count / unit, 1, number_) {}

  [[nodiscard]] std::size_t number() const noexcept { return static_cast<std::size_t>(number_); }
  /// The first element of a segment, and how many it has.
  [[nodiscard]] std::size_t begin(std::size_t segment) const noexcept {
    return segment == number() ? count_ : units_.span_bytes(0, static_cast<int>(segment)) * unit_;
  }
  [[nodiscard]] std::size_t count(std::size_t segment) const noexcept { return begin(segment + 1) - begin(segment); }
  [[nodiscard]] std::size_t longest() const noexcept { return std::max(count(0), count(number() - 1)); }

 private:
  std::size_t count_;
  std::size_t unit_;
  int number_;
  Blocks units_;
};

}  // namespace chorus
