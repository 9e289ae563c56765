// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace chorus::bench {

/// Message sizes in bytes, both ends included.
struct SizeRange {
  std::size_t min = 4;
  std::size_t max = 1U << 20U;
};

/// "MIN:MAX", or "MAX" alone with the default MIN; K, M and G stand for powers of 1024, as in "64K", and
/// "2^16" is as much.
/// Throws   std::invalid_argument that says what is wrong with `text`.
[[nodiscard]] SizeRange parse_size_range(std::string_view text);

/// The sizes to measure: from `range.min`, raised to a whole number of float32 elements, doubling to `range.max`.
/// A minimum of zero gives the sizes 0, 4, 8, ...
[[nodiscard]] std::vector<std::size_t> doubling_sizes(SizeRange range);

}  // namespace chorus::bench
