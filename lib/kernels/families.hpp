// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/kernels.hpp"

// The kernels by family of types; each family is compiled in a file of its own.
namespace chorus::kernels {

/// The two forms of one reduction; null where the pair is not supported.
struct Kernel {
  Accumulate accumulate = nullptr;
  Reduce reduce = nullptr;
};

/// As kernels::divide, for one type.
using Divide = void (*)(std::byte* inout, std::size_t count, int ranks);

/// The kernels of bool and the integers, for the processor the program runs on.
[[nodiscard]] Kernel integer_kernel(DataType type, ReduceOp op);

/// The kernels of float and double, for the processor the program runs on.
[[nodiscard]] Kernel float_kernel(DataType type, ReduceOp op);
[[nodiscard]] Divide float_divide(DataType type);

/// The kernels of float16 and bfloat16, for the processor the program runs on.
[[nodiscard]] Kernel half_kernel(DataType type, ReduceOp op);
[[nodiscard]] Divide half_divide(DataType type);

/// The kernels of complex numbers, made of those of their parts.
[[nodiscard]] Kernel complex_kernel(DataType type, ReduceOp op);
void complex_divide(std::byte* inout, std::size_t count, DataType type, int ranks);

/// The kernels of long double, which no processor vectorises.
[[nodiscard]] Kernel long_double_kernel(ReduceOp op);

}  // namespace chorus::kernels
