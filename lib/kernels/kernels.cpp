// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels.hpp"

#include "kernels/families.hpp"

#include <array>
#include <cstring>
#include <type_traits>

namespace chorus::kernels {
namespace {

Reduce choose(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::float16:
    case DataType::bfloat16:
      return half_kernel(type, op);
    case DataType::float32:
    case DataType::float64:
      return float_kernel(type, op);
    case DataType::long_double:
      return long_double_kernel(op);
    case DataType::complex64:
    case DataType::complex128:
      return complex_kernel(type, op);
    case DataType::opaque:
      return {};
    default:
      return integer_kernel(type, op);
  }
}

/// Divides elements of `T` in the type of C++'s own arithmetic that holds both numbers.
template <class T>
void divide_elements(std::byte* inout, std::size_t count, int ranks) {
  using Wide = std::common_type_t<T, std::conditional_t<std::is_unsigned_v<T>, unsigned, int>>;
  const auto divisor = static_cast<Wide>(ranks);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, inout + i * sizeof element, sizeof element);
    element = static_cast<T>(element / divisor);
    std::memcpy(inout + i * sizeof element, &element, sizeof element);
  }
}

}  // namespace

bool supports(DataType type, ReduceOp op) noexcept {
  const bool integral = type <= DataType::uint64;
  const bool ordered = type <= DataType::long_double;
  if (type == DataType::opaque) return false;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::product:
    case ReduceOp::average:
      return type != DataType::boolean;
    case ReduceOp::min:
    case ReduceOp::max:
      return ordered;
    default:
      return integral && static_cast<int>(op) < reduce_op_count;
  }
}

Reduce reduce(DataType type, ReduceOp op) noexcept {
  static const auto table = [] {  // chosen once: afterwards this is a look into it
    std::array<Reduce, std::size_t{data_type_count} * reduce_op_count> kernels;
    for (int t = 0; t < data_type_count; ++t) {
      for (int o = 0; o < reduce_op_count; ++o) {
        kernels[t * reduce_op_count + o] = choose(static_cast<DataType>(t), static_cast<ReduceOp>(o));
      }
    }
    return kernels;
  }();
  return table[static_cast<std::size_t>(type) * reduce_op_count + static_cast<std::size_t>(op)];
}

void divide(std::byte* inout, std::size_t count, DataType type, int ranks) {
  switch (type) {
    case DataType::boolean:
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::opaque:
      return;
    case DataType::int8:
      return divide_elements<std::int8_t>(inout, count, ranks);
    case DataType::int16:
      return divide_elements<std::int16_t>(inout, count, ranks);
    case DataType::int32:
      return divide_elements<std::int32_t>(inout, count, ranks);
    case DataType::int64:
      return divide_elements<std::int64_t>(inout, count, ranks);
    case DataType::uint8:
      return divide_elements<std::uint8_t>(inout, count, ranks);
    case DataType::uint16:
      return divide_elements<std::uint16_t>(inout, count, ranks);
    case DataType::uint32:
      return divide_elements<std::uint32_t>(inout, count, ranks);
    case DataType::uint64:
      return divide_elements<std::uint64_t>(inout, count, ranks);
    case DataType::float32:
    case DataType::float64:
      return float_divide(type)(inout, count, ranks);
    case DataType::long_double:
      return divide_elements<long double>(inout, count, ranks);
    case DataType::complex64:
    case DataType::complex128:
      return complex_divide(inout, count, type, ranks);
  }
}

}  // namespace chorus::kernels
