// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace chorus {

/// A part of a buffer, in bytes.
struct Section {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  friend bool operator==(const Section&, const Section&) = default;
};

/// From the beginning of the first to the end of the last that is not empty; nothing where all are.
[[nodiscard]] inline Section extent_of(std::span<const Section> sections) noexcept {
  std::size_t begin = 0, end = 0;
  for (const Section& section : sections) {
    if (section.bytes == 0) continue;
    begin = end == 0 ? section.offset : std::min(begin, section.offset);
    end = std::max(end, section.offset + section.bytes);
  }
  return {begin, end - begin};
}

}  // namespace chorus
