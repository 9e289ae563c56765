// SPDX-License-Identifier: Apache-2.0
#include "kernels/families.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/halves.cpp"
#include <hwy/foreach_target.h>

#include "kernels/reduce-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace chorus::kernels::HWY_NAMESPACE {

template <class D>
using Words = hn::RebindToUnsigned<D>;

/// The lower halves of words below 2^16, as elements of `Format`.
template <class Format, class D>
HWY_INLINE hn::Vec<Elements<Format, D>> lower_halves(D, hn::Vec<Words<D>> words) {
  return hn::DemoteTo(Elements<Format, D>(), hn::BitCast(hn::RebindToSigned<D>(), words));
}

/// bfloat16, converted as float16.hpp does.
struct Bfloat16 {
  using Element = std::uint16_t;
  using Lane = float;

  template <class D, class V>
  static HWY_INLINE hn::Vec<D> widen(D d, V elements) {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(Words<D>(), elements)));
  }

  template <class D>
  static HWY_INLINE auto narrow(D d, hn::Vec<D> lanes) {
    const Words<D> words;
    const auto word = hn::BitCast(words, lanes);
    const auto upper = hn::ShiftRight<16>(word);
    const auto odd = hn::And(upper, hn::Set(words, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(word, hn::Set(words, 0x7FFF)), odd));
    const auto not_a_number = hn::RebindMask(words, hn::IsNaN(lanes));
    return lower_halves<Bfloat16>(d, hn::IfThenElse(not_a_number, hn::Or(upper, hn::Set(words, 0x40)), rounded));
  }
};

/// float16, converted as float16.hpp does.
struct Float16 {
  using Element = std::uint16_t;
  using Lane = float;

#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> widen(D d, V elements) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), elements));
  }

  // The processors keep the payload of what is not a number; float16.hpp keeps its sign alone.
  template <class D>
  static HWY_INLINE auto narrow(D d, hn::Vec<D> lanes) {
    const auto quiet = hn::BitCast(d, hn::Set(Words<D>(), 0x7FC00000));
    const auto plain = hn::IfThenElse(hn::IsNaN(lanes), hn::CopySign(quiet, lanes), lanes);
    return hn::BitCast(Elements<Float16, D>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), plain));
  }
#else
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> widen(D d, V elements) {
    const Words<D> words;
    const auto half = hn::PromoteTo(words, elements);
    const auto magnitude = hn::And(half, hn::Set(words, 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(half, magnitude));
    const auto shifted = hn::ShiftLeft<13>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(words, 112U << 23U));
    const auto infinite = hn::Add(shifted, hn::Set(words, 224U << 23U));
    const auto implicit_one = hn::BitCast(d, hn::Add(shifted, hn::Set(words, 113U << 23U)));
    const auto subnormal = hn::BitCast(words, hn::Sub(implicit_one, hn::Set(d, 0x1p-14F)));
    const auto finite = hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, 0x400)), subnormal, normal);
    return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, 0x7C00)), finite, infinite)));
  }

  template <class D>
  static HWY_INLINE auto narrow(D d, hn::Vec<D> lanes) {
    const Words<D> words;
    const auto word = hn::BitCast(words, lanes);
    const auto magnitude = hn::And(word, hn::Set(words, 0x7FFFFFFF));
    const auto sign = hn::ShiftRight<16>(hn::Xor(word, magnitude));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(words, 1));
    const auto rounded = hn::Add(hn::Add(magnitude, hn::Set(words, 0xC8000FFF)), odd);
    const auto normal = hn::Min(hn::ShiftRight<13>(rounded), hn::Set(words, 0x7C00));
    // The addition shifts the bits of a subnormal number to their place and rounds them.
    const auto half = hn::Set(d, 0.5F);
    const auto placed = hn::Add(hn::BitCast(d, magnitude), half);
    const auto subnormal = hn::Sub(hn::BitCast(words, placed), hn::BitCast(words, half));
    const auto number = hn::IfThenElse(hn::Lt(magnitude, hn::Set(words, 0x38800000)), subnormal, normal);
    const auto not_a_number = hn::RebindMask(words, hn::IsNaN(lanes));
    const auto result = hn::IfThenElse(not_a_number, hn::Set(words, 0x7E00), number);
    return lower_halves<Float16>(d, hn::Or(sign, result));
  }
#endif
};

template <class Format>
Reduce half_kernel_of(ReduceOp op) {
  return op == ReduceOp::average ? reduce_kernel<Format, Average> : arithmetic_kernel<Format>(op);
}

Reduce choose_half(DataType type, ReduceOp op) {
  return type == DataType::float16 ? half_kernel_of<Float16>(op) : half_kernel_of<Bfloat16>(op);
}

template <class Format>
void widen_kernel(std::byte* floats, const std::byte* halves, std::size_t count) {
  write<Plain<float>>(floats, Lanes<Format>{halves}, count, Store::cached);
}

Widen choose_widen(DataType type) { return type == DataType::float16 ? widen_kernel<Float16> : widen_kernel<Bfloat16>; }

template <class Format>
void narrow_kernel(std::byte* halves, const std::byte* floats, std::size_t count, int divisor) {
  write<Format>(halves, Quotient<Plain<float>>{floats, static_cast<float>(divisor)}, count, Store::cached);
}

Narrow choose_narrow(DataType type) {
  return type == DataType::float16 ? narrow_kernel<Float16> : narrow_kernel<Bfloat16>;
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chorus::kernels {

HWY_EXPORT(choose_half);
Reduce half_kernel(DataType type, ReduceOp op) { return HWY_DYNAMIC_DISPATCH(choose_half)(type, op); }

HWY_EXPORT(choose_widen);
Widen widen(DataType type) noexcept { return HWY_DYNAMIC_DISPATCH(choose_widen)(type); }

HWY_EXPORT(choose_narrow);
Narrow narrow(DataType type) noexcept { return HWY_DYNAMIC_DISPATCH(choose_narrow)(type); }

}  // namespace chorus::kernels
#endif
