// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/float16.hpp>
#include <chorus/reduce_op.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// What a kernel does with the elements of several ranks. Compiled for devices by reduce.cu and for the host by the
// tests' double of CUDA's driver, so that these run the same code: all is constexpr, which nvcc lets devices call.
namespace chorus::device_kernels {

/// As many ranks' elements one kernel joins.
inline constexpr int most_inputs = 64;
/// What a thread loads and stores at a time where addresses allow it.
inline constexpr std::size_t pack_bytes = 16;
/// The name of the kernel, whose only parameter is a Reduction.
inline constexpr const char* reduce_name = "chorus_reduce";

/// out[i] = inputs[0][i] op inputs[1][i] op ..., from left to right.
struct Reduction {
  void* out = nullptr;  ///< may be one of the inputs
  const void* inputs[most_inputs] = {};
  std::uint64_t count = 0;
  std::int32_t ranks = 0;  ///< inputs; by it a sum is divided that becomes an average
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  bool packs = false;        ///< all addresses are multiples of `pack_bytes`
  bool multiplies = false;   ///< the only input, by `factor`, an element
  std::uint64_t factor = 0;  ///< its bytes come first
};

/// Halves are joined in float and rounded once, integers without signs, as they wrap around.
template <class T>
using Joined = std::conditional_t<std::is_integral_v<T>, T, detail::ComputedIn<T>>;
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
constexpr T sum_of(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(left) + static_cast<Wrapping<T>>(right));
  } else {
    return left + right;
  }
}

template <class T>
constexpr T product_of(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<Wrapping<T>>(left) * static_cast<Wrapping<T>>(right));
  } else {
    return left * right;
  }
}

template <ReduceOp op, class T>
constexpr T join(T left, T right) {
  if constexpr (op == ReduceOp::product) {
    return product_of(left, right);
  } else if constexpr (op == ReduceOp::min) {
    return right < left ? right : left;
  } else if constexpr (op == ReduceOp::max) {
    return left < right ? right : left;
  } else {
    return sum_of(left, right);
  }
}

/// Elements that are read and written together: one, or as many as `Words` have, by which compilers see that it is one
/// access.
template <class T, int length>
struct Pack {
  T elements[length];
};
struct alignas(pack_bytes) Words {
  std::uint64_t words[pack_bytes / sizeof(std::uint64_t)];
};

template <class T, int length>
constexpr Pack<T, length> load(const void* input, std::uint64_t first) {
  const T* const from = static_cast<const T*>(input) + first;
  if constexpr (length == 1) {
    return {{*from}};
  } else {
    return std::bit_cast<Pack<T, length>>(*static_cast<const Words*>(static_cast<const void*>(from)));
  }
}

template <class T, int length>
constexpr void store(const Pack<T, length>& pack, void* output, std::uint64_t first) {
  T* const to = static_cast<T*>(output) + first;
  if constexpr (length == 1) {
    *to = pack.elements[0];
  } else {
    *static_cast<Words*>(static_cast<void*>(to)) = std::bit_cast<Words>(pack);
  }
}

template <class T, ReduceOp op, int length>
constexpr void reduce_pack(const Reduction& reduction, std::uint64_t first) {
  Joined<T> joined[length] = {};
  Pack<T, length> pack = load<T, length>(reduction.inputs[0], first);
  if (reduction.multiplies) {
    const T factor = std::bit_cast<Pack<T, sizeof reduction.factor / sizeof(T)>>(reduction.factor).elements[0];
    for (int i = 0; i < length; ++i) {
      pack.elements[i] = static_cast<T>(product_of<Joined<T>>(pack.elements[i], factor));
    }
  }
  for (int i = 0; i < length; ++i) joined[i] = pack.elements[i];
  for (int rank = 1; rank < reduction.ranks; ++rank) {
    pack = load<T, length>(reduction.inputs[rank], first);
    for (int i = 0; i < length; ++i) joined[i] = join<op, Joined<T>>(joined[i], pack.elements[i]);
  }
  for (int i = 0; i < length; ++i) {
    if constexpr (op == ReduceOp::average) joined[i] = joined[i] / static_cast<Joined<T>>(reduction.ranks);
    pack.elements[i] = static_cast<T>(joined[i]);
  }
  store(pack, reduction.out, first);
}

/// The share of one of `threads` threads: packs, then what is left over, or lies where no pack may be.
template <class T, ReduceOp op>
constexpr void reduce_by(const Reduction& reduction, std::uint64_t thread, std::uint64_t threads) {
  constexpr int length = pack_bytes / sizeof(T);
  const std::uint64_t packs = reduction.packs ? reduction.count / length : 0;
  for (std::uint64_t i = thread; i < packs; i += threads) reduce_pack<T, op, length>(reduction, i * length);
  for (std::uint64_t i = packs * length + thread; i < reduction.count; i += threads) {
    reduce_pack<T, op, 1>(reduction, i);
  }
}

template <class T>
constexpr void reduce_elements_of(const Reduction& reduction, std::uint64_t thread, std::uint64_t threads) {
  switch (reduction.op) {
    case ReduceOp::sum:
      return reduce_by<T, ReduceOp::sum>(reduction, thread, threads);
    case ReduceOp::product:
      return reduce_by<T, ReduceOp::product>(reduction, thread, threads);
    case ReduceOp::min:
      return reduce_by<T, ReduceOp::min>(reduction, thread, threads);
    case ReduceOp::max:
      return reduce_by<T, ReduceOp::max>(reduction, thread, threads);
    default:
      if constexpr (!std::is_integral_v<T>) reduce_by<T, ReduceOp::average>(reduction, thread, threads);
  }
}

/// True where there is code for it: averages of integers have none.
constexpr bool supports(DataType type, ReduceOp op) {
  if (op > ReduceOp::average) return false;
  switch (type) {
    case DataType::float16:
    case DataType::bfloat16:
    case DataType::float32:
    case DataType::float64:
      return true;
    case DataType::int8:
    case DataType::uint8:
    case DataType::int32:
    case DataType::uint32:
    case DataType::int64:
    case DataType::uint64:
      return op != ReduceOp::average;
    default:
      return false;
  }
}

/// What thread `thread` of `threads` does of a reduction that is supported.
constexpr void reduce_elements(const Reduction& reduction, std::uint64_t thread, std::uint64_t threads) {
  switch (reduction.type) {
    case DataType::int8:
      return reduce_elements_of<std::int8_t>(reduction, thread, threads);
    case DataType::uint8:
      return reduce_elements_of<std::uint8_t>(reduction, thread, threads);
    case DataType::int32:
      return reduce_elements_of<std::int32_t>(reduction, thread, threads);
    case DataType::uint32:
      return reduce_elements_of<std::uint32_t>(reduction, thread, threads);
    case DataType::int64:
      return reduce_elements_of<std::int64_t>(reduction, thread, threads);
    case DataType::uint64:
      return reduce_elements_of<std::uint64_t>(reduction, thread, threads);
    case DataType::float16:
      return reduce_elements_of<float16_t>(reduction, thread, threads);
    case DataType::bfloat16:
      return reduce_elements_of<bfloat16_t>(reduction, thread, threads);
    case DataType::float32:
      return reduce_elements_of<float>(reduction, thread, threads);
    case DataType::float64:
      return reduce_elements_of<double>(reduction, thread, threads);
    default:
      return;
  }
}

}  // namespace chorus::device_kernels
