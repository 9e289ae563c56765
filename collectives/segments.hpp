// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace chorus {

/// A vector cut into segments of equal length, but for the last, which has the rest besides: the unit in which phases
/// follow one another.
class Segments {
 public:
  /// Of `count` elements: as many segments as can have `least` each. All but the last have a multiple of `unit`, which
  /// divides `least`.
  Segments(std::size_t count, std::size_t least, std::size_t unit) noexcept
      : count_(count), number_(std::max<std::size_t>(1, count / least)), each_(count / number_ / unit * unit) {}

  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  [[nodiscard]] std::size_t begin(std::size_t segment) const noexcept { return segment * each_; }
  [[nodiscard]] std::size_t count(std::size_t segment) const noexcept {
    return segment + 1 == number_ ? longest() : each_;
  }
  [[nodiscard]] std::size_t longest() const noexcept { return count_ - (number_ - 1) * each_; }

  // For the Traffic of all: `others` times `each`, and once `longest`; what one phase does of one while another phase
  // does of the next.
  [[nodiscard]] std::size_t each() const noexcept { return each_; }
  [[nodiscard]] int others() const noexcept { return static_cast<int>(number_ - 1); }
  [[nodiscard]] double overlap() const noexcept { return others() / static_cast<double>(number_); }

 private:
  std::size_t count_;
  std::size_t number_;
  std::size_t each_;
};

}  // namespace chorus
