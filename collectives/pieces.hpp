// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace chorus {

/// A part of a data slot cut into one piece a rank, of whole elements and, where these divide a cache line, of whole
/// lines: every rank reduces its own piece. The last pieces are shorter, and may be empty.
class Pieces {
 public:
  Pieces(std::size_t bytes, std::size_t element, int ranks) noexcept : bytes_(bytes) {
    const std::size_t unit = line % element == 0 ? line : element;
    each_ = quotient_rounded_up(bytes, static_cast<std::size_t>(ranks) * unit) * unit;
  }

  [[nodiscard]] std::size_t offset(int piece) const noexcept {
    return std::min(bytes_, static_cast<std::size_t>(piece) * each_);
  }
  [[nodiscard]] std::size_t bytes(int piece) const noexcept { return offset(piece + 1) - offset(piece); }

 private:
  static constexpr std::size_t line = 64;
  [[nodiscard]] static constexpr std::size_t quotient_rounded_up(std::size_t number, std::size_t divisor) noexcept {
    return (number + divisor - 1) / divisor;
  }
  std::size_t bytes_;
  std::size_t each_ = 0;
};

}  // namespace chorus
