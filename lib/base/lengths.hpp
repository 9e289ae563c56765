// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace chorus {

/// No buffer is longer: what a process can address with five levels of page tables.
inline constexpr std::size_t longest_buffer = std::size_t{1} << 56U;

/// True where that many elements, of less than 4 GiB each, are no longer than a buffer can be; where it is false they
/// may be longer.
[[nodiscard]] constexpr bool is_short(std::size_t count) noexcept { return count >> 24U == 0; }

[[nodiscard]] constexpr bool is_too_long(std::size_t count, std::size_t element_bytes) noexcept {
  return count > longest_buffer / element_bytes;
}

/// What is wrong with an argument that is too long.
[[nodiscard]] inline std::string too_long(std::string_view argument, std::size_t count, std::size_t element_bytes) {
  return fmt::format(
      "argument {} has {} elements of {} bytes, more than an address space holds; was a negative number converted?",
      argument, count, element_bytes);
}

}  // namespace chorus
