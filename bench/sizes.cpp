// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include "base/names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>

namespace chorus::bench {
namespace {

constexpr std::size_t element_bytes = sizeof(float);

/// Of a text such as "2^10", which an index of a job array makes a size by.
std::optional<std::size_t> power_of_two(std::string_view text) {
  constexpr std::string_view base = "2^";
  if (!text.starts_with(base)) return std::nullopt;
  unsigned exponent = 0;
  const auto [rest, error] = std::from_chars(text.data() + base.size(), text.data() + text.size(), exponent);
  const bool whole = error == std::errc() && rest == text.data() + text.size();
  if (!whole || exponent >= std::numeric_limits<std::size_t>::digits) return std::nullopt;
  return std::size_t{1} << exponent;
}

std::size_t bytes_of(std::string_view text) {
  if (const std::optional<std::size_t> bytes = parse_bytes(text)) return *bytes;
  if (const std::optional<std::size_t> bytes = power_of_two(text)) return *bytes;
  throw std::invalid_argument(
      fmt::format("'{}' is no size: a whole number of bytes is wanted, as in 64, 64K, 1M or 2^20", text));
}

}  // namespace

SizeRange parse_size_range(std::string_view text) {
  SizeRange range;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) range.min = bytes_of(text.substr(0, colon));
  range.max = bytes_of(colon == std::string_view::npos ? text : text.substr(colon + 1));
  if (range.min > range.max && colon == std::string_view::npos) {
    throw std::invalid_argument(
        fmt::format("the least size is {} bytes unless MIN:MAX is given, and {} are less", range.min, range.max));
  }
  if (range.min > range.max) {
    throw std::invalid_argument(
        fmt::format("the smallest size, {} bytes, is larger than the largest, {} bytes", range.min, range.max));
  }
  if (doubling_sizes(range).empty()) {
    throw std::invalid_argument(
        fmt::format("no whole number of float32 elements has {} to {} bytes", range.min, range.max));
  }
  return range;
}

std::vector<std::size_t> doubling_sizes(SizeRange range) {
  std::vector<std::size_t> sizes;
  if (range.min == 0) sizes.push_back(0);
  std::size_t size = range.min == 0 ? element_bytes : (range.min + element_bytes - 1) / element_bytes * element_bytes;
  for (; size <= range.max; size *= 2) {
    sizes.push_back(size);
    if (size > std::numeric_limits<std::size_t>::max() / 2) break;
  }
  return sizes;
}

}  // namespace chorus::bench
