// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.hpp"

#include <complex>
#include <cstring>

namespace chorus::kernels {
namespace {

DataType part_of(DataType type) noexcept { return type == DataType::complex64 ? DataType::float32 : DataType::float64; }

/// A complex number is added as its two parts.
template <DataType part>
void add_parts(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store store) {
  reduce(part, ReduceOp::sum)(out, inputs, 2 * count, store);
}

template <class T>
std::complex<T> element(const std::byte* from, std::size_t i) noexcept {
  T parts[2];
  std::memcpy(parts, from + i * sizeof parts, sizeof parts);
  return {parts[0], parts[1]};
}

/// By the textbook's formula: the standard operator also mends infinite results, part by part.
template <class T>
void multiply(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store /*store*/) {
  for (std::size_t i = 0; i < count; ++i) {
    std::complex<T> result = element<T>(inputs[0], i);
    for (const std::byte* const input : inputs.subspan(1)) {
      const std::complex<T> factor = element<T>(input, i);
      result = {result.real() * factor.real() - result.imag() * factor.imag(),
                result.real() * factor.imag() + result.imag() * factor.real()};
    }
    std::memcpy(out + i * sizeof result, &result, sizeof result);
  }
}

template <class T, DataType part>
Reduce kernel_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return add_parts<part>;
    case ReduceOp::product:
      return multiply<T>;
    default:
      return nullptr;
  }
}

}  // namespace

Reduce complex_kernel(DataType type, ReduceOp op) {
  return type == DataType::complex64 ? kernel_of<float, DataType::float32>(op)
                                     : kernel_of<double, DataType::float64>(op);
}

void complex_divide(std::byte* inout, std::size_t count, DataType type, int ranks) {
  divide(inout, 2 * count, part_of(type), ranks);
}

}  // namespace chorus::kernels
