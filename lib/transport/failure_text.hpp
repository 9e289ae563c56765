// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// Writes `text` and a 0 to `place`. Where it is too long its middle is left out, and "..." stands there: what to do is
/// said at the end.
inline void put_text(std::span<char> place, std::string_view text) noexcept {
  constexpr std::string_view gap = "...";
  const std::size_t room = place.size() - 1;
  char* end = place.data();
  if (text.size() <= room) {
    end = std::copy(text.begin(), text.end(), end);
  } else {
    const std::size_t tail = (room - gap.size()) / 2;
    end = std::copy_n(text.begin(), room - gap.size() - tail, end);
    end = std::copy(gap.begin(), gap.end(), end);
    end = std::copy_n(text.end() - static_cast<std::ptrdiff_t>(tail), tail, end);
  }
  *end = '\0';
}

}  // namespace chorus
