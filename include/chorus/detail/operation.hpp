// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/premultiplied_sum.hpp>
#include <chorus/reduce_function.hpp>
#include <chorus/reduce_op.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace chorus::detail {

/// The operation of a reduction without its C++ type: a ReduceOp, or a function of the caller's.
struct Operation {
  /// out[i] = left[i] op right[i] for `count` elements; `out` may be `left` or `right`.
  using Join = void (*)(const void* function, std::byte* out, const std::byte* left, const std::byte* right,
                        std::size_t count);

  ReduceOp op = ReduceOp::sum;  ///< where `join` is null
  bool commutative = true;
  Join join = nullptr;
  const void* function = nullptr;  ///< for `join`, or the factor of `multiply`
  /// inout[i] = inout[i] times the factor, of `count` elements, before a sum; null where nothing is multiplied.
  void (*multiply)(const void* factor, std::byte* inout, std::size_t count) = nullptr;
  std::shared_ptr<const void> owner;  ///< keeps `function` for a call that outlives its statement; may be null
};

template <class Function>
inline constexpr bool is_commutative = false;
template <class Function>
inline constexpr bool is_commutative<Commutative<Function>> = true;

template <class Function, class T>
void join(const void* function, std::byte* out, const std::byte* left, const std::byte* right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T operands[2];
    std::memcpy(&operands[0], left + i * sizeof(T), sizeof(T));
    std::memcpy(&operands[1], right + i * sizeof(T), sizeof(T));
    const T result = (*reinterpret_cast<const Function*>(const_cast<void*>(function)))(operands[0], operands[1]);
    std::memcpy(out + i * sizeof(T), &result, sizeof(T));
  }
}

/// For a call that is over before `op` is.
template <class T, Reduces<T> Op>
[[nodiscard]] Operation operation(const Op& op) {
  if constexpr (std::same_as<Op, ReduceOp>) {
    return {.op = op, .owner = nullptr};
  } else {
    return {.commutative = is_commutative<Op>,
            .join = join<Op, T>,
            .function = reinterpret_cast<const void*>(&op),
            .owner = nullptr};
  }
}

template <class T>
[[nodiscard]] Operation operation(const PremultipliedSum<T>& op) {
  return {.op = ReduceOp::sum, .function = &op.factor, .multiply = multiply<T>, .owner = nullptr};
}

/// For a call that may outlive `op`: keeps a copy of a function object.
template <class T, Reduces<T> Op>
[[nodiscard]] Operation lasting_operation(const Op& op) {
  Operation lasting = operation<T>(op);
  if constexpr (!std::same_as<Op, ReduceOp> && std::is_object_v<Op>) {
    const auto copy = std::make_shared<const Op>(op);
    lasting.function = copy.get();
    lasting.owner = copy;
  }
  return lasting;
}

}  // namespace chorus::detail
