// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/reduce_op.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace chorus {

/// A function that joins two elements of a reduction: `T f(const T& left, const T& right)`, associative, without side
/// effects, and the same on every rank. It is called concurrently on different ranks and in any grouping, but always
/// with what comes from the lower ranks on the left, unless it says that its order does not matter (`commutative`).
///
/// It must not call a collective. Whatever it throws breaks the communicator, as the other ranks are in the middle of
/// the call then: instead of the exception the call throws Error{function_threw} with its text, and so does this call
/// or the next one on the other ranks.
template <class Function, class T>
concept ReduceFunction =
    Element<T> && !std::same_as<Function, ReduceOp> && std::is_invocable_r_v<T, const Function&, const T&, const T&>;

/// What a reduction of elements of `T` takes: a ReduceOp where they are numbers, or a function.
template <class Op, class T>
concept Reduces = (std::same_as<Op, ReduceOp> && Number<T>) || ReduceFunction<Op, T>;

/// A function whose two operands may be exchanged: more algorithms can then carry the reduction out.
template <class Function>
struct Commutative {
  Function function;

  template <class T>
  requires std::is_invocable_r_v<T, const Function&, const T&, const T&> T operator()(const T& left,
                                                                                      const T& right) const {
    return function(left, right);
  }
};

/// `allreduce(comm, points, commutative(join))`.
template <class Function>
[[nodiscard]] Commutative<std::decay_t<Function>> commutative(Function&& function) {
  return {std::forward<Function>(function)};
}

/// A value and where it came from, for `minloc` and `maxloc`.
template <class T, std::integral Index = int>
struct ValueIndex {
  T value;
  Index index;
  friend bool operator==(const ValueIndex&, const ValueIndex&) = default;
};

namespace detail {
template <bool smallest>
struct Locate {
  template <class T, class Index>
  ValueIndex<T, Index> operator()(const ValueIndex<T, Index>& left, const ValueIndex<T, Index>& right) const {
    if (left.value == right.value) return left.index < right.index ? left : right;
    return (left.value < right.value) == smallest ? left : right;
  }
};
}  // namespace detail

/// The smallest (largest) value with its index; of equal values the one with the lowest index. Where a value is not a
/// number the result is unspecified.
inline constexpr Commutative<detail::Locate<true>> minloc{};
inline constexpr Commutative<detail::Locate<false>> maxloc{};

}  // namespace chorus
