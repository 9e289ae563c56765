// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace chorus::detail {

/// The 64-bit hash 1a of Fowler, Noll and Vo: the same on every machine, unlike std::hash. Not for data that somebody
/// may choose to make it collide.
class Fnv1a {
 public:
  constexpr void add_byte(unsigned char byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3U; }
  /// Its eight bytes, the lowest first.
  constexpr void add(std::uint64_t number) noexcept {
    for (int bits = 0; bits < 64; bits += 8) add_byte(static_cast<unsigned char>(number >> bits));
  }
  /// Its letters and their number, so that "ab" and "c" are not "a" and "bc".
  constexpr void add(std::string_view text) noexcept {
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
    add(static_cast<std::uint64_t>(text.size()));
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace chorus::detail
