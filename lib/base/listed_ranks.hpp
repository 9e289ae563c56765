// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace chorus {

/// Equal where the numbers are, none of them negative, and almost surely different otherwise; most so its upper half.
template <class Number>
[[nodiscard]] constexpr std::uint64_t checksum_of(std::span<const Number> numbers) noexcept {
  std::uint64_t sum = 0;
  for (const Number number : numbers) sum = (sum ^ (static_cast<std::uint64_t>(number) + 1)) * 0x9E3779B97F4A7C15U;
  return sum;
}

// A list of ranks as one number: the list itself where it is short, so that messages can name it, and else a checksum.

namespace detail {

constexpr std::uint64_t is_checksum = std::uint64_t{1} << 63U;

/// For each rank of a list of that many.
constexpr unsigned bits_of_rank(std::size_t count) noexcept {
  return count == 0 ? 63 : static_cast<unsigned>(63 / count);
}

}  // namespace detail

/// Equal where the lists are, and almost surely different otherwise.
[[nodiscard]] constexpr std::uint64_t number_of_list(std::span<const int> ranks) noexcept {
  const unsigned bits = detail::bits_of_rank(ranks.size());
  const auto fits = [&](int rank) { return bits >= 32 || (static_cast<std::uint64_t>(rank) >> bits) == 0; };
  if (bits == 0 || !std::ranges::all_of(ranks, fits)) return checksum_of(ranks) | detail::is_checksum;
  std::uint64_t number = 0;
  for (const int rank : ranks) number = number << bits | static_cast<std::uint64_t>(rank);
  return number;
}

/// The list of `count` ranks with that number; nothing where it is a checksum.
[[nodiscard]] inline std::optional<std::vector<int>> list_of_number(std::uint64_t number, std::size_t count) {
  if ((number & detail::is_checksum) != 0) return std::nullopt;
  const unsigned bits = detail::bits_of_rank(count);
  std::vector<int> ranks(count);
  for (std::size_t place = count; place-- > 0; number >>= bits) {
    ranks[place] = static_cast<int>(number & ((std::uint64_t{1} << bits) - 1));
    if (bits == 63) break;
  }
  return ranks;
}

}  // namespace chorus
