// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace chorus {

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. A storage type: convert, compute in float, convert back.
struct float16_t {
  std::uint16_t bits = 0;

  float16_t() = default;
  /// Rounds to the nearest value, ties to even; overflow gives infinity.
  explicit constexpr float16_t(float value) noexcept;
  constexpr operator float() const noexcept;  // NOLINT(google-explicit-constructor): every value is exact in float
};

/// bfloat16: the upper half of an IEEE 754 binary32. A storage type: convert, compute in float, convert back.
struct bfloat16_t {
  std::uint16_t bits = 0;

  bfloat16_t() = default;
  /// Rounds to the nearest value, ties to even; overflow gives infinity.
  explicit constexpr bfloat16_t(float value) noexcept;
  constexpr operator float() const noexcept {  // NOLINT(google-explicit-constructor): every value is exact in float
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
};

constexpr float16_t::float16_t(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((word >> 16U) & 0x8000U);
  const std::uint32_t magnitude = word & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {  // not a number: kept quiet
    bits = sign | 0x7E00U;
  } else if (magnitude >= 0x477FF000U) {  // rounds to 2^16 or more
    bits = sign | 0x7C00U;
  } else if (magnitude >= 0x38800000U) {  // a normal number
    const std::uint32_t odd = (magnitude >> 13U) & 1U;
    bits = sign | static_cast<std::uint16_t>((magnitude + 0xFFFU + odd - 0x38000000U) >> 13U);
  } else if (magnitude > 0x33000000U) {  // a subnormal number
    const std::uint32_t shift = 126U - (magnitude >> 23U);
    const std::uint32_t fraction = (magnitude & 0x7FFFFFU) | 0x800000U;
    const std::uint32_t half = 1U << (shift - 1U);
    const std::uint32_t odd = (fraction >> shift) & 1U;
    bits = sign | static_cast<std::uint16_t>((fraction + half - 1U + odd) >> shift);
  } else {
    bits = sign;
  }
}

constexpr float16_t::operator float() const noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | (fraction << 13U));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (fraction << 13U));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

constexpr bfloat16_t::bfloat16_t(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const bool not_a_number = (word & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t odd = (word >> 16U) & 1U;
  bits = static_cast<std::uint16_t>(not_a_number ? (word >> 16U) | 0x40U : (word + 0x7FFFU + odd) >> 16U);
}

namespace detail {
/// What numbers of type `T` are computed in: float for the storage types, any other in itself.
template <class T>
using ComputedIn = std::conditional_t<std::same_as<T, float16_t> || std::same_as<T, bfloat16_t>, float, T>;
}  // namespace detail

}  // namespace chorus
