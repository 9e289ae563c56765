// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <chorus/element.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

// What a collective must give, computed one element at a time in whole numbers. The inputs are so small that every
// type holds every result and every partial result exactly, whatever the order.
namespace chorus::test {

/// Calls `function` with a value of the C++ type of `type`.
template <class Function>
decltype(auto) with_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::boolean:
      return function(bool{});
    case DataType::int8:
      return function(std::int8_t{});
    case DataType::int16:
      return function(std::int16_t{});
    case DataType::int32:
      return function(std::int32_t{});
    case DataType::int64:
      return function(std::int64_t{});
    case DataType::uint8:
      return function(std::uint8_t{});
    case DataType::uint16:
      return function(std::uint16_t{});
    case DataType::uint32:
      return function(std::uint32_t{});
    case DataType::uint64:
      return function(std::uint64_t{});
    case DataType::float16:
      return function(float16_t{});
    case DataType::bfloat16:
      return function(bfloat16_t{});
    case DataType::float32:
      return function(float{});
    case DataType::float64:
      return function(double{});
    case DataType::complex64:
      return function(std::complex<float>());
    case DataType::complex128:
      return function(std::complex<double>());
    case DataType::long_double:
      return function(0.0L);
    case DataType::opaque:
      break;
  }
  throw std::logic_error("opaque elements have no C++ type");
}

/// The collectives whose blocks are all of one length come first; sections_test.cpp has the others.
inline constexpr int even_collective_count = static_cast<int>(Collective::allgatherv);

[[nodiscard]] bool is_integer(DataType type) noexcept;
[[nodiscard]] bool is_signed(DataType type) noexcept;
[[nodiscard]] bool reduces(Collective collective) noexcept;

/// Element `index` of what `rank` contributes to `call`.
[[nodiscard]] std::int64_t contribution(const Call& call, int ranks, int rank, std::size_t index);
/// Element `index` of the reduction over all ranks.
[[nodiscard]] std::int64_t reduction(const Call& call, int ranks, std::size_t index);

/// The reductions over the ranks up to each rank (scan) or before it (exscan, 0 for rank 0): one block a rank.
[[nodiscard]] std::vector<std::int64_t> prefixes(const Call& call, int ranks);

/// Whole numbers as elements of `type`.
[[nodiscard]] std::vector<std::byte> elements_of(const std::vector<std::int64_t>& values, DataType type);
/// True where `count` elements have the values in `expected`; the padding of a long double and the sign of
/// a complex number's zeros do not matter.
[[nodiscard]] bool same_elements(const std::byte* left, const std::byte* right, std::size_t count, DataType type);

}  // namespace chorus::test
