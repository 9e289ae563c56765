// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace chorus::kernels {
namespace {

long double element(const std::byte* from, std::size_t i) noexcept {
  long double value;
  std::memcpy(&value, from + i * sizeof value, sizeof value);
  return value;
}

struct Min {
  long double operator()(long double a, long double b) const noexcept { return std::min(a, b); }
};

struct Max {
  long double operator()(long double a, long double b) const noexcept { return std::max(a, b); }
};

template <class Op>
void reduce_kernel(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store /*store*/) {
  for (std::size_t i = 0; i < count; ++i) {
    long double result = element(inputs[0], i);
    for (const std::byte* const input : inputs.subspan(1)) result = Op()(result, element(input, i));
    std::memcpy(out + i * sizeof result, &result, sizeof result);
  }
}

template <class Op>
Reduce kernel_of() {
  return reduce_kernel<Op>;
}

}  // namespace

Reduce long_double_kernel(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return kernel_of<std::plus<long double>>();
    case ReduceOp::product:
      return kernel_of<std::multiplies<long double>>();
    case ReduceOp::min:
      return kernel_of<Min>();
    case ReduceOp::max:
      return kernel_of<Max>();
    default:
      return nullptr;
  }
}

}  // namespace chorus::kernels
