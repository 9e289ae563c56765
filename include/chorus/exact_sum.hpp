// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/reduce_function.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace chorus {

/// A sum of floating-point numbers that is not rounded until it is asked for. Its bits are those of the set of numbers
/// added, whatever their order and grouping: ranks add up what they have, and a reduction by `exact_sum` gives the same
/// bits however the numbers are spread over the ranks. Takes 56 bytes for float and 280 for double.
///
///   chorus::ExactSum<double> sum;
///   for (const double x : mine) sum += x;
///   const double total = chorus::allreduce(world, sum, chorus::exact_sum).value();
///
/// A fixed-point number as long as the range of T (Kulisch's long accumulator; Neal, arXiv:1505.05571, 2015; Collange
/// et al., Parallel Computing 49, 2015). It holds 2^64 numbers of any size.
template <class T>
requires std::same_as<T, float> || std::same_as<T, double>
class ExactSum {
 public:
  /// Of no numbers: 0.
  ExactSum() = default;
  explicit ExactSum(T value) { *this += value; }

  ExactSum& operator+=(T value) {
    const auto bits = std::bit_cast<Bits>(value);
    const bool negative = bits >> (8 * sizeof(T) - 1) != 0;
    const Bits fraction = bits & ((Bits{1} << fraction_bits) - 1);
    const std::size_t exponent = bits >> fraction_bits & (2 * Limits::max_exponent - 1);
    if (exponent == 2 * Limits::max_exponent - 1) {
      seen_ |= fraction != 0 ? not_a_number : negative ? minus_infinity : plus_infinity;
      return *this;
    }
    seen_ |= negative && fraction == 0 && exponent == 0 ? minus_zero : other_number;
    const std::uint64_t significand = exponent == 0 ? fraction : fraction | Bits{1} << fraction_bits;
    add(significand, exponent == 0 ? 0 : exponent - 1, negative);
    return *this;
  }

  ExactSum& operator+=(const ExactSum& other) {
    bool carry = false;
    for (std::size_t i = 0; i < words; ++i) words_[i] = plus(words_[i], other.words_[i], carry);
    seen_ |= other.seen_;
    return *this;
  }

  /// The sum rounded once, to the nearest T, ties to even (in the processor's default rounding mode). An infinity where
  /// it is beyond the range of T or infinities of one sign were added; not a number, always with the same bits, where
  /// both were, or one that is none. -0 where nothing but -0 was added.
  [[nodiscard]] T value() const {
    const std::uint64_t infinities = seen_ & (plus_infinity | minus_infinity);
    if ((seen_ & not_a_number) != 0 || infinities == (plus_infinity | minus_infinity)) return Limits::quiet_NaN();
    if (infinities != 0) return infinities == plus_infinity ? Limits::infinity() : -Limits::infinity();
    if (words_.back() >> 63U == 0) return magnitude();
    ExactSum opposite;
    bool borrow = false;
    for (std::size_t i = 0; i < words; ++i) opposite.words_[i] = minus(0, words_[i], borrow);
    return -opposite.magnitude();
  }

  friend bool operator==(const ExactSum&, const ExactSum&) = default;

 private:
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int fraction_bits = Limits::digits - 1;
  static constexpr int lowest_exponent = Limits::min_exponent - Limits::digits;  // of the smallest subnormal
  static constexpr std::size_t words = (Limits::max_exponent - lowest_exponent + 64 + 63) / 64;
  // What has been added.
  static constexpr std::uint64_t minus_zero = 1;
  static constexpr std::uint64_t other_number = 2;
  static constexpr std::uint64_t plus_infinity = 4;
  static constexpr std::uint64_t minus_infinity = 8;
  static constexpr std::uint64_t not_a_number = 16;

  static std::uint64_t plus(std::uint64_t left, std::uint64_t right, bool& carry) {
    const std::uint64_t sum = left + right;
    const std::uint64_t result = sum + (carry ? 1 : 0);
    carry = sum < left || result < sum;
    return result;
  }
  static std::uint64_t minus(std::uint64_t left, std::uint64_t right, bool& borrow) {
    const std::uint64_t difference = left - right;
    const std::uint64_t result = difference - (borrow ? 1 : 0);
    borrow = left < right || difference < result;
    return result;
  }

  /// Adds, or subtracts, `significand` shifted by `position` bits.
  void add(std::uint64_t significand, std::size_t position, bool negative) {
    const std::size_t first = position / 64;
    const std::size_t shift = position % 64;
    const std::uint64_t parts[] = {significand << shift, shift == 0 ? 0 : significand >> (64 - shift)};
    bool carry = false;
    for (std::size_t i = first; i < words && (carry || i < first + 2); ++i) {
      const std::uint64_t part = i < first + 2 ? parts[i - first] : 0;
      words_[i] = negative ? minus(words_[i], part, carry) : plus(words_[i], part, carry);
    }
  }

  /// The value of `words_`, which are not negative.
  [[nodiscard]] T magnitude() const {
    std::size_t top = words;
    while (top > 0 && words_[top - 1] == 0) --top;
    if (top == 0) return seen_ == minus_zero ? -T{0} : T{0};
    --top;
    const int shift = std::countl_zero(words_[top]);
    const std::uint64_t below = top > 0 ? words_[top - 1] : 0;
    std::uint64_t leading = words_[top] << shift | (shift > 0 ? below >> (64 - shift) : 0);
    const bool more = below << shift != 0 ||
                      std::any_of(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(top > 0 ? top - 1 : 0),
                                  [](std::uint64_t word) { return word != 0; });
    if (more) leading |= 1;  // below the last bit of T: only says on which side of a tie the sum is
    return std::ldexp(static_cast<T>(leading), static_cast<int>(64 * top) - shift + lowest_exponent);
  }

  std::array<std::uint64_t, words> words_{};  // two's complement, the lowest first; bit 0 is the smallest subnormal
  std::uint64_t seen_ = 0;
};

namespace detail {
struct AddExactly {
  template <class T>
  ExactSum<T> operator()(const ExactSum<T>& left, const ExactSum<T>& right) const {
    ExactSum<T> sum = left;
    sum += right;
    return sum;
  }
};
}  // namespace detail

/// Joins ExactSums: `allreduce(comm, sums, exact_sum)`.
inline constexpr Commutative<detail::AddExactly> exact_sum{};

}  // namespace chorus
