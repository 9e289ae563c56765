// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/float16.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <type_traits>

namespace chorus {

/// What an element is, independent of how C++ spells it: `long` and `long long` are both `int64` on Linux. `opaque`
/// elements are bytes to the library, of a length that goes with them.
enum class DataType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  long_double,
  complex64,
  complex128,
  opaque
};
inline constexpr int data_type_count = 17;

/// Its name as it is spelled in the source, for messages.
[[nodiscard]] CHORUS_API std::string_view name(DataType type) noexcept;

namespace detail {
inline constexpr std::size_t element_bytes[data_type_count] = {
    1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, sizeof(long double), 8, 16, 1};
}

/// The size of one element in bytes; 1 for `opaque`.
[[nodiscard]] constexpr std::size_t size_of(DataType type) noexcept {
  return detail::element_bytes[static_cast<int>(type)];
}

/// A type that a ReduceOp joins: every integer type of at most 64 bits (`bool` and the character types among them),
/// `float`, `double`, `long double`, `float16_t`, `bfloat16_t`, and the complex types of float and double.
template <class T>
concept Number =
    !std::is_const_v<T> && !std::is_volatile_v<T> &&
    ((std::integral<T> && sizeof(T) <= sizeof(std::uint64_t)) || std::same_as<T, float> || std::same_as<T, double> ||
     std::same_as<T, long double> || std::same_as<T, float16_t> || std::same_as<T, bfloat16_t> ||
     std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>);

/// A type that a collective can carry: a number, or any other type that may be copied byte by byte and is no pointer.
template <class T>
concept Element = Number<T> ||
    (std::is_trivially_copyable_v<T>&& std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> &&
     !std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T>);

/// The DataType of `T`.
template <Element T>
[[nodiscard]] consteval DataType data_type_of() noexcept {
  if constexpr (std::same_as<T, bool>)
    return DataType::boolean;
  else if constexpr (std::same_as<T, float16_t>)
    return DataType::float16;
  else if constexpr (std::same_as<T, bfloat16_t>)
    return DataType::bfloat16;
  else if constexpr (std::same_as<T, float>)
    return DataType::float32;
  else if constexpr (std::same_as<T, double>)
    return DataType::float64;
  else if constexpr (std::same_as<T, long double>)
    return DataType::long_double;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return DataType::complex64;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return DataType::complex128;
  else if constexpr (!Number<T>)
    return DataType::opaque;
  else {
    constexpr DataType by_size[2][4] = {{DataType::uint8, DataType::uint16, DataType::uint32, DataType::uint64},
                                        {DataType::int8, DataType::int16, DataType::int32, DataType::int64}};
    constexpr int log2_size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return by_size[std::is_signed_v<T> ? 1 : 0][log2_size];
  }
}

/// Contiguous elements to read: a span, vector, array, ...
template <class R>
concept ElementRange =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && Element<std::ranges::range_value_t<R>> &&
    !std::is_volatile_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// The type of the elements of a range, or of a reference to one.
template <class R>
using ElementOf = std::ranges::range_value_t<R>;

/// Contiguous elements to write.
template <class R>
concept WritableElementRange =
    ElementRange<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Two ranges of one element type, the first to read, the second to write.
template <class In, class Out>
concept ElementRanges = ElementRange<In> && WritableElementRange<Out> &&
    std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>>;

}  // namespace chorus
