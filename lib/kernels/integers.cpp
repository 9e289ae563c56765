// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/integers.cpp"
#include <hwy/foreach_target.h>

#include "kernels/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chorus::kernels::HWY_NAMESPACE {

// What does not see the sign is computed without one: it wraps around as it should, and is compiled once for both.
template <class T>
Reduce kernel_of_integer(ReduceOp op) {
  using Bits = Plain<std::make_unsigned_t<T>>;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return reduce_kernel<Bits, Sum>;
    case ReduceOp::product:
      return reduce_kernel<Bits, Product>;
    case ReduceOp::min:
      return reduce_kernel<Plain<T>, Min>;
    case ReduceOp::max:
      return reduce_kernel<Plain<T>, Max>;
    case ReduceOp::logical_and:
      return reduce_kernel<Bits, LogicalAnd>;
    case ReduceOp::logical_or:
      return reduce_kernel<Bits, LogicalOr>;
    case ReduceOp::logical_xor:
      return reduce_kernel<Bits, LogicalXor>;
    case ReduceOp::bitwise_and:
      return reduce_kernel<Bits, BitwiseAnd>;
    case ReduceOp::bitwise_or:
      return reduce_kernel<Bits, BitwiseOr>;
    case ReduceOp::bitwise_xor:
      return reduce_kernel<Bits, BitwiseXor>;
  }
  return {};
}

// On false and true all operations are logical ones; these make a valid bool of any byte.
Reduce kernel_of_bool(ReduceOp op) {
  using Byte = Plain<std::uint8_t>;
  switch (op) {
    case ReduceOp::min:
    case ReduceOp::logical_and:
    case ReduceOp::bitwise_and:
      return reduce_kernel<Byte, LogicalAnd>;
    case ReduceOp::max:
    case ReduceOp::logical_or:
    case ReduceOp::bitwise_or:
      return reduce_kernel<Byte, LogicalOr>;
    case ReduceOp::logical_xor:
    case ReduceOp::bitwise_xor:
      return reduce_kernel<Byte, LogicalXor>;
    default:
      return {};
  }
}

Reduce choose_integer(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::boolean:
      return kernel_of_bool(op);
    case DataType::int8:
      return kernel_of_integer<std::int8_t>(op);
    case DataType::int16:
      return kernel_of_integer<std::int16_t>(op);
    case DataType::int32:
      return kernel_of_integer<std::int32_t>(op);
    case DataType::int64:
      return kernel_of_integer<std::int64_t>(op);
    case DataType::uint8:
      return kernel_of_integer<std::uint8_t>(op);
    case DataType::uint16:
      return kernel_of_integer<std::uint16_t>(op);
    case DataType::uint32:
      return kernel_of_integer<std::uint32_t>(op);
    case DataType::uint64:
      return kernel_of_integer<std::uint64_t>(op);
    default:
      return {};
  }
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chorus::kernels {

HWY_EXPORT(choose_integer);
Reduce integer_kernel(DataType type, ReduceOp op) { return HWY_DYNAMIC_DISPATCH(choose_integer)(type, op); }

}  // namespace chorus::kernels
#endif
