// SPDX-License-Identifier: Apache-2.0

// Reductions as sources of `write`, and the operations that join two vectors. Compiled once for each instruction set;
// included after hwy/foreach_target.h.
#if defined(CHORUS_KERNELS_REDUCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CHORUS_KERNELS_REDUCE_INL
#undef CHORUS_KERNELS_REDUCE_INL
#else
#define CHORUS_KERNELS_REDUCE_INL
#endif

#include "kernels/families.hpp"
#include "kernels/write-inl.hpp"

#include <algorithm>
#include <concepts>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace chorus::kernels::HWY_NAMESPACE {

struct Average;

/// Inputs joined from left to right in registers, to be rounded once. The first stands on the left, or `sums` where it
/// is not null: the lanes that earlier inputs gave. The last of an average are followed by a division by `divisor`, the
/// number of all; elsewhere that is 0.
template <class Format, class Op>
struct Fold {
  const std::byte* sums;
  std::span<const std::byte* const> inputs;
  std::size_t divisor;

  template <class D, std::size_t vectors>
  HWY_INLINE void operator()(D d, std::size_t i, hn::Vec<D> (&lanes)[vectors]) const {
    if (sums != nullptr) {
      load_all<Plain<typename Format::Lane>>(d, sums, i, lanes);
    } else {
      load_all<Format>(d, inputs[0], i, lanes);
    }
    for (std::size_t j = sums != nullptr ? 0 : 1; j < inputs.size(); ++j) {
      hn::Vec<D> right[vectors];
      load_all<Format>(d, inputs[j], i, right);
      for (std::size_t v = 0; v < vectors; ++v) lanes[v] = Op::join(d, lanes[v], right[v]);
    }
    if constexpr (std::same_as<Op, Average>) {
      if (divisor == 0) return;
      const auto number = hn::Set(d, static_cast<typename Format::Lane>(divisor));
      for (std::size_t v = 0; v < vectors; ++v) lanes[v] = hn::Div(lanes[v], number);
    }
  }
};

/// One buffer as it is.
template <class Format>
struct Lanes {
  const std::byte* in;

  template <class D, std::size_t vectors>
  HWY_INLINE void operator()(D d, std::size_t i, hn::Vec<D> (&lanes)[vectors]) const {
    load_all<Format>(d, in, i, lanes);
  }
};

/// One buffer divided by a number.
template <class Format>
struct Quotient {
  const std::byte* in;
  typename Format::Lane divisor;

  template <class D, std::size_t vectors>
  HWY_INLINE void operator()(D d, std::size_t i, hn::Vec<D> (&lanes)[vectors]) const {
    load_all<Format>(d, in, i, lanes);
    for (std::size_t v = 0; v < vectors; ++v) lanes[v] = hn::Div(lanes[v], hn::Set(d, divisor));
  }
};

// More inputs than this at a time overtax the processor's prefetchers.
inline constexpr std::size_t most_inputs = 8;

/// Reduces many inputs, a few at a time, block by block: the lanes of a block stay in the first cache meanwhile.
template <class Format, class Op>
void reduce_many(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store how) {
  using Lane = typename Format::Lane;
  constexpr std::size_t block = 8192 / sizeof(Lane);
  alignas(64) Lane lanes[block];
  auto* const sums = reinterpret_cast<std::byte*>(lanes);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t offset = begin * bytes_of<Format>;
    const std::size_t length = std::min(block, count - begin);
    for (std::size_t first = 0; first < inputs.size(); first += most_inputs) {
      const auto some = inputs.subspan(first, std::min(most_inputs, inputs.size() - first));
      const std::byte* from[most_inputs];
      std::transform(some.begin(), some.end(), from, [=](const std::byte* input) { return input + offset; });
      const bool last = first + some.size() == inputs.size();
      const Fold<Format, Op> fold = {first > 0 ? sums : nullptr, {from, some.size()}, last ? inputs.size() : 0};
      if (!last) {
        write_vectors<Plain<Lane>>(sums, fold, length, Store::cached);
      } else {
        write_vectors<Format>(out + offset, fold, length, how);
      }
    }
  }
}

template <class Format, class Op>
void reduce_kernel(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store how) {
  if (inputs.size() > most_inputs) {
    reduce_many<Format, Op>(out, inputs, count, how);
  } else if (inputs.size() > 1) {
    write<Format>(out, Fold<Format, Op>{nullptr, inputs, inputs.size()}, count, how);
  } else if (out != inputs[0]) {
    copy(out, inputs[0], count * bytes_of<Format>, how);
  }
}

template <class Format>
void divide_kernel(std::byte* inout, std::size_t count, int ranks) {
  write<Format>(inout, Quotient<Format>{inout, static_cast<typename Format::Lane>(ranks)}, count, Store::cached);
}

struct Sum {
  template <class D, class V>
  static HWY_INLINE V join(D, V a, V b) {
    return hn::Add(a, b);
  }
};

/// The sum, divided by the number of inputs before it is rounded.
struct Average : Sum {};

struct Product {
  template <class D, class V>
  static HWY_INLINE V join(D d, V a, V b) {
    using T = hn::TFromD<D>;
    if constexpr (std::is_floating_point_v<T>) {
      return hn::Mul(a, b);
    } else if constexpr (hn::MaxLanes(D()) == 1) {
      return hn::Set(d, static_cast<T>(std::uint64_t{hn::GetLane(a)} * hn::GetLane(b)));
    } else if constexpr (sizeof(T) == 1) {
      const hn::Repartition<std::uint16_t, D> pairs;
      const auto pair_a = hn::BitCast(pairs, a);
      const auto pair_b = hn::BitCast(pairs, b);
      const auto even = hn::And(hn::Mul(pair_a, pair_b), hn::Set(pairs, 0xFF));
      const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(pair_a), hn::ShiftRight<8>(pair_b)));
      return hn::BitCast(d, hn::Or(even, odd));
    } else if constexpr (sizeof(T) == 8) {
      // a * b mod 2^64 = low_a * low_b + ((low_a * high_b + high_a * low_b) << 32)
      const hn::Repartition<std::uint32_t, D> words;
      const auto words_a = hn::BitCast(words, a);
      const auto words_b = hn::BitCast(words, b);
      const auto high_a = hn::BitCast(words, hn::ShiftRight<32>(a));
      const auto high_b = hn::BitCast(words, hn::ShiftRight<32>(b));
      const auto cross = hn::Add(hn::MulEven(words_a, high_b), hn::MulEven(high_a, words_b));
      return hn::Add(hn::MulEven(words_a, words_b), hn::ShiftLeft<32>(cross));
    } else {
      return hn::Mul(a, b);
    }
  }
};

// The processors' own float minima differ on zeros and on what is not a number; a comparison gives the same everywhere.
struct Min {
  template <class D, class V>
  static HWY_INLINE V join(D, V a, V b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      return hn::IfThenElse(hn::Lt(b, a), b, a);
    } else {
      return hn::Min(a, b);
    }
  }
};

struct Max {
  template <class D, class V>
  static HWY_INLINE V join(D, V a, V b) {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      return hn::IfThenElse(hn::Lt(a, b), b, a);
    } else {
      return hn::Max(a, b);
    }
  }
};

/// 1 in each lane that is not zero.
template <class D, class V>
HWY_INLINE V truth(D d, V v) {
  return hn::IfThenZeroElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, 1));
}

struct LogicalAnd {
  template <class D, class V>
  static HWY_INLINE V join(D d, V a, V b) {
    return hn::And(truth(d, a), truth(d, b));
  }
};

struct LogicalOr {
  template <class D, class V>
  static HWY_INLINE V join(D d, V a, V b) {
    return truth(d, hn::Or(a, b));
  }
};

struct LogicalXor {
  template <class D, class V>
  static HWY_INLINE V join(D d, V a, V b) {
    return hn::Xor(truth(d, a), truth(d, b));
  }
};

struct BitwiseAnd {
  template <class D, class V>
  static HWY_INLINE V join(D, V a, V b) {
    return hn::And(a, b);
  }
};

struct BitwiseOr {
  template <class D, class V>
  static HWY_INLINE V join(D, V a, V b) {
    return hn::Or(a, b);
  }
};

struct BitwiseXor {
  template <class D, class V>
  static HWY_INLINE V join(D, V a, V b) {
    return hn::Xor(a, b);
  }
};

/// The kernel of an operation that every number has.
template <class Format>
Reduce arithmetic_kernel(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return reduce_kernel<Format, Sum>;
    case ReduceOp::product:
      return reduce_kernel<Format, Product>;
    case ReduceOp::min:
      return reduce_kernel<Format, Min>;
    case ReduceOp::max:
      return reduce_kernel<Format, Max>;
    default:
      return {};
  }
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
