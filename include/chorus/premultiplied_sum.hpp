// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/reduce_op.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chorus {

/// For reductions on memory of GPUs: each rank's elements are multiplied by `factor` before they are summed up, as by
/// NCCL's ncclRedOpCreatePreMulSum. The ranks may give different factors. Products are rounded to T; those of integers
/// wrap around as their sums do.
template <Number T>
requires(!std::same_as<T, bool>) struct PremultipliedSum {
  T factor;
};

/// What a reduction on memory of GPUs takes.
template <class Op, class T>
concept DeviceReduces = Number<T> &&(std::same_as<Op, ReduceOp> || std::same_as<Op, PremultipliedSum<T>>);

namespace detail {

/// Multiplies `count` elements of `T` by `factor`.
template <class T>
void multiply(const void* factor, std::byte* inout, std::size_t count) {
  const T& by = *static_cast<const T*>(factor);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, inout + i * sizeof(T), sizeof(T));
    if constexpr (std::same_as<T, float16_t> || std::same_as<T, bfloat16_t>) {
      element = T(static_cast<float>(element) * static_cast<float>(by));
    } else if constexpr (std::integral<T>) {
      element = static_cast<T>(static_cast<std::uint64_t>(element) * static_cast<std::uint64_t>(by));
    } else {
      element = static_cast<T>(element * by);
    }
    std::memcpy(inout + i * sizeof(T), &element, sizeof(T));
  }
}

}  // namespace detail

}  // namespace chorus
