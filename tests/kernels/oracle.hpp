// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/reduce_op.hpp>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

// What the kernels must compute, one element at a time and with no regard to speed.
namespace chorus::test {

/// Stands for bool, of which std::vector gives no addresses.
using Boolean = char8_t;

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>;

template <class T>
inline constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Calls `run` with a value of the C++ type of `type`.
template <class Run>
void with_type(DataType type, const Run& run) {
  switch (type) {
    case DataType::boolean:
      return run(Boolean());
    case DataType::int8:
      return run(std::int8_t());
    case DataType::int16:
      return run(std::int16_t());
    case DataType::int32:
      return run(std::int32_t());
    case DataType::int64:
      return run(std::int64_t());
    case DataType::uint8:
      return run(std::uint8_t());
    case DataType::uint16:
      return run(std::uint16_t());
    case DataType::uint32:
      return run(std::uint32_t());
    case DataType::uint64:
      return run(std::uint64_t());
    case DataType::float16:
      return run(float16_t());
    case DataType::bfloat16:
      return run(bfloat16_t());
    case DataType::float32:
      return run(float());
    case DataType::float64:
      return run(double());
    case DataType::long_double:
      return run(0.0L);
    case DataType::complex64:
      return run(std::complex<float>());
    case DataType::complex128:
      return run(std::complex<double>());
    case DataType::opaque:
      throw std::logic_error("opaque elements are not computed with");
  }
}

/// a op b for integers. Sums and products are those of 128 bits, of which the lower ones stay.
template <class T>
T joined_integers(ReduceOp op, T a, T b) {
  __extension__ using Wide = unsigned __int128;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    case ReduceOp::product:
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    case ReduceOp::min:
      return a < b ? a : b;
    case ReduceOp::max:
      return a > b ? a : b;
    case ReduceOp::logical_and:
      return static_cast<T>(a != 0 && b != 0);
    case ReduceOp::logical_or:
      return static_cast<T>(a != 0 || b != 0);
    case ReduceOp::logical_xor:
      return static_cast<T>((a != 0) != (b != 0));
    case ReduceOp::bitwise_and:
      return static_cast<T>(a & b);
    case ReduceOp::bitwise_or:
      return static_cast<T>(a | b);
    case ReduceOp::bitwise_xor:
      return static_cast<T>(a ^ b);
  }
  return {};
}

/// a op b for floating types.
template <class T>
T joined_floats(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::product:
      return a * b;
    case ReduceOp::min:
      return b < a ? b : a;
    case ReduceOp::max:
      return a < b ? b : a;
    default:
      return a + b;
  }
}

/// a op b for complex numbers.
template <class T>
T joined_complex(ReduceOp op, T a, T b) {
  if (op != ReduceOp::product) return {a.real() + b.real(), a.imag() + b.imag()};
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Element `n` of the result: the reduction of inputs 0 to n. An average is the sum, but for 16-bit floats.
template <class T>
std::vector<std::vector<T>> running_reductions(ReduceOp op, const std::vector<std::vector<T>>& inputs) {
  std::vector<std::vector<T>> results = {inputs[0]};
  if constexpr (is_half<T>) {
    std::vector<float> sums(inputs[0].begin(), inputs[0].end());
    for (std::size_t j = 1; j < inputs.size(); ++j) {
      std::vector<T> rounded;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] = joined_floats(op, sums[i], float{inputs[j][i]});
        rounded.emplace_back(op == ReduceOp::average ? sums[i] / static_cast<float>(j + 1) : sums[i]);
      }
      results.push_back(rounded);
    }
  } else {
    for (std::size_t j = 1; j < inputs.size(); ++j) {
      std::vector<T> next;
      for (std::size_t i = 0; i < inputs[j].size(); ++i) {
        if constexpr (std::is_integral_v<T>)
          next.push_back(joined_integers<T>(op, results.back()[i], inputs[j][i]));
        else if constexpr (is_complex<T>)
          next.push_back(joined_complex(op, results.back()[i], inputs[j][i]));
        else
          next.push_back(joined_floats(op, results.back()[i], inputs[j][i]));
      }
      results.push_back(next);
    }
  }
  return results;
}

/// An element that is a number: all values of an integer; of a float half of them near 1 and half of any size.
template <class T>
T random_element(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::is_same_v<T, Boolean> ? bits & 1U : bits);
  else if constexpr (is_complex<T>) {
    const auto real = random_element<typename T::value_type>(random);
    return {real, random_element<typename T::value_type>(random)};
  } else {
    const double near_one = 0.5 + static_cast<double>(bits >> 11U) * 0x1p-53;
    if ((bits & 1U) != 0) return static_cast<T>(static_cast<float>((bits & 2U) != 0 ? -near_one : near_one));
    constexpr int exponents = std::is_same_v<T, float16_t> ? 25 : 130;  // into infinity and into subnormal numbers
    const int exponent = static_cast<int>((bits >> 1U) % (2 * exponents)) - exponents;
    if constexpr (is_half<T> || std::is_same_v<T, float>)
      return T(static_cast<float>(std::ldexp(near_one, exponent)));
    else
      return static_cast<T>(std::ldexp(near_one, 8 * exponent));
  }
}

/// The same value to the last bit; what is not a number equals what is not.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return a == b;
  else if constexpr (is_half<T>)
    return a.bits == b.bits || (std::isnan(float{a}) && std::isnan(float{b}));
  else if constexpr (is_complex<T>)
    return same(a.real(), b.real()) && same(a.imag(), b.imag());
  else
    return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
}

}  // namespace chorus::test
