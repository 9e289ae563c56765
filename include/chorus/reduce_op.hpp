// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <cstdint>
#include <string_view>

namespace chorus {

/// How a reduction joins two elements. All are commutative.
///
/// sum, product    every number but bool; integers wrap around
/// min, max        every number that is not complex; the result is unspecified where an operand is not a number
/// average         every number but bool: the sum divided by the number of ranks; integers wrap around in the sum
///                 and are then truncated towards zero
/// logical_*       integers and bool: zero is false, the result is 0 or 1, but where it is that of one rank alone
///                 (as on the first of a scan) its element as it is
/// bitwise_*       integers and bool
///
/// Sums, products and averages of float16_t and bfloat16_t are computed in float, all of them, and rounded once: an
/// average after the division. Where an algorithm needs several steps, it sends floats.
enum class ReduceOp : std::uint8_t {
  sum,
  product,
  min,
  max,
  average,
  logical_and,
  logical_or,
  logical_xor,
  bitwise_and,
  bitwise_or,
  bitwise_xor
};
inline constexpr int reduce_op_count = 11;

/// Its name as it is spelled in the source, for messages.
[[nodiscard]] CHORUS_API std::string_view name(ReduceOp op) noexcept;

}  // namespace chorus
