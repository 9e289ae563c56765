// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/kernels.hpp"

// The kernels by family of types; each family is compiled in a file of its own.
namespace chorus::kernels {

/// As kernels::divide, for one type.
using Divide = void (*)(std::byte* inout, std::size_t count, int ranks);

/// The kernels of bool and the integers, for the processor the program runs on.
[[nodiscard]] Reduce integer_kernel(DataType type, ReduceOp op);

/// The kernels of float and double, for the processor the program runs on.
[[nodiscard]] Reduce float_kernel(DataType type, ReduceOp op);
[[nodiscard]] Divide float_divide(DataType type);

/// The kernels of float16 and bfloat16, for the processor the program runs on.
[[nodiscard]] Reduce half_kernel(DataType type, ReduceOp op);

/// The kernels of complex numbers, made of those of their parts.
[[nodiscard]] Reduce complex_kernel(DataType type, ReduceOp op);
void complex_divide(std::byte* inout, std::size_t count, DataType type, int ranks);

/// The kernels of long double, which no processor vectorises.
[[nodiscard]] Reduce long_double_kernel(ReduceOp op);

}  // namespace chorus::kernels
