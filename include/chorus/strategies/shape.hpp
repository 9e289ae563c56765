// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chorus {

/// The lengths of a tensor's dimensions, the outermost first; empty: a single value.
using Shape = std::vector<std::size_t>;

/// The number of elements of a tensor of `shape`.
[[nodiscard]] inline std::size_t element_count(const Shape& shape) noexcept {
  std::size_t count = 1;
  for (const std::size_t length : shape) count *= length;
  return count;
}

/// `shape` as (2, 3), for messages.
[[nodiscard]] inline std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (const std::size_t length : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(length);
  return text + ")";
}

}  // namespace chorus
