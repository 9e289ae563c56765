// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/memory.hpp>
#include <chorus/reduce_op.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

// Random calls: what they are made of.
namespace chorus::test {

template <class T>
[[nodiscard]] MPI_Datatype mpi_type() {
  if constexpr (std::is_same_v<T, std::int32_t>) return MPI_INT32_T;
  if constexpr (std::is_same_v<T, std::uint64_t>) return MPI_UINT64_T;
  if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  return MPI_DOUBLE;
}

/// Composes the maps x -> a x + b modulo 7 that 7 a + b stands for: it does not commute.
template <class T>
T compose(T left, T right) {
  const auto outer = static_cast<unsigned>(left);
  const auto inner = static_cast<unsigned>(right);
  const unsigned factor = outer / 7 * (inner / 7);
  const unsigned term = outer / 7 * (inner % 7) + outer % 7;
  return static_cast<T>(factor % 7 * 7 + term % 7);
}
inline constexpr unsigned largest_map = 48;

/// The same for MPI.
template <class T>
MPI_Op mpi_compose() {
  static const MPI_Op op = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(
        [](void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
          const T* const left = static_cast<const T*>(in);
          T* const right = static_cast<T*>(inout);
          for (int i = 0; i < *count; ++i) right[i] = compose(left[i], right[i]);
        },
        0, &made);
    return made;
  }();
  return op;
}

/// An operation of chorus's, or else `compose`.
template <class T>
struct Op {
  std::optional<ReduceOp> op;
  MPI_Op mpi;

  /// Calls `body` with what chorus's functions take.
  template <class Body>
  void with(const Body& body) const {
    if (op) return body(*op);
    body([](T left, T right) { return compose(left, right); });
  }
};

/// Whether the next piece of memory is registered.
inline std::mt19937 memory_coin;

/// Memory of which each piece is registered or not, by `memory_coin`.
template <class T>
struct DrawnAllocator {
  using value_type = T;

  T* allocate(std::size_t count) {
    const std::size_t bytes = std::max(count * sizeof(T), std::size_t{16} << 10U);  // none shorter is registered
    void* const data = memory_coin() % 2 == 0 ? chorus::allocate(bytes) : std::malloc(bytes);
    if (data == nullptr) throw std::bad_alloc();
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t /*count*/) noexcept {
    if (is_registered(data, 1)) return chorus::deallocate(data);
    std::free(data);
  }
  friend bool operator==(const DrawnAllocator& /*left*/, const DrawnAllocator& /*right*/) noexcept { return true; }
};
template <class T>
using Values = std::vector<T, DrawnAllocator<T>>;

/// What all ranks draw alike, and what each draws for itself.
struct Draw {
  std::mt19937 together;
  std::mt19937 alone;

  std::size_t below(std::size_t limit) { return together() % limit; }
  std::size_t count() {
    constexpr std::size_t counts[] = {0, 1, 2, 7, 14, 100, 1000, 5000, 40'000};
    return counts[below(9)];
  }
  /// An operation on `T`; values drawn later have a product that is exact.
  template <class T>
  Op<T> op() {
    if (below(4) == 0) {
      largest = largest_map;
      return {std::nullopt, mpi_compose<T>()};
    }
    const Op<T> ops[] = {{ReduceOp::sum, MPI_SUM},          {ReduceOp::product, MPI_PROD},
                         {ReduceOp::min, MPI_MIN},          {ReduceOp::max, MPI_MAX},
                         {ReduceOp::logical_and, MPI_LAND}, {ReduceOp::logical_or, MPI_LOR},
                         {ReduceOp::logical_xor, MPI_LXOR}, {ReduceOp::bitwise_and, MPI_BAND},
                         {ReduceOp::bitwise_or, MPI_BOR},   {ReduceOp::bitwise_xor, MPI_BXOR}};
    const Op<T> op = ops[below(std::is_integral_v<T> ? std::size(ops) : 4)];
    largest = op.op == ReduceOp::product ? 3 : 99;
    return op;
  }
  template <class T>
  Values<T> values(std::size_t length) {
    Values<T> values(length);
    for (T& value : values) value = static_cast<T>(alone() % (largest + 1));
    return values;
  }

  unsigned largest = 99;  ///< of the values drawn
};

}  // namespace chorus::test
