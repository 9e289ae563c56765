// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of the same element of several inputs, rounded once.
//
// Most sums need no long accumulator. Knuth's two-sum gives what each addition rounds away; so do the additions of
// what was rounded away. With high + low as the sum so far, and the absolute values of what even `low` has lost added
// up in `lost`, the result is high + low rounded once, if `lost` is zero or cannot turn that rounding to another number
// (Shewchuk, Discrete & Computational Geometry 18, 1997; Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005). Where
// it might, or something overflows or is no number, an ExactSum decides: the result is the same either way.

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exact_sums.cpp"
#include <hwy/foreach_target.h>

#include "kernels/kernels.hpp"
#include "kernels/write-inl.hpp"

#include <chorus/exact_sum.hpp>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace chorus::kernels::HWY_NAMESPACE {

/// left + right = sum + error, exactly, unless something overflows.
template <class D>
struct Pair {
  hn::Vec<D> sum;
  hn::Vec<D> error;
};

template <class D>
HWY_INLINE Pair<D> two_sum(hn::Vec<D> left, hn::Vec<D> right) {
  const auto sum = hn::Add(left, right);
  const auto of_right = hn::Sub(sum, left);
  return {sum, hn::Add(hn::Sub(left, hn::Sub(sum, of_right)), hn::Sub(right, of_right))};
}

/// Where high + low, give or take `lost`, rounds to `rounded.sum`. The margin is wide enough for its own rounding and
/// that of `lost`, and leaves out ties.
template <class D>
HWY_INLINE hn::Mask<D> certain(D d, const Pair<D>& rounded, hn::Vec<D> lost) {
  const auto margin =
      hn::Add(hn::Add(lost, lost),
              hn::Mul(hn::Set(d, 4 * std::numeric_limits<hn::TFromD<D>>::epsilon()), hn::Abs(rounded.error)));
  const auto above = hn::Eq(hn::Add(rounded.sum, hn::Add(rounded.error, margin)), rounded.sum);
  const auto below = hn::Eq(hn::Add(rounded.sum, hn::Sub(rounded.error, margin)), rounded.sum);
  return hn::Or(hn::Eq(lost, hn::Zero(d)), hn::And(above, below));
}

/// The exact sums of inputs, as a source of `write`.
template <class T>
struct ExactSums {
  std::span<const std::byte* const> inputs;

  template <class D, std::size_t vectors>
  HWY_INLINE void operator()(D d, std::size_t i, hn::Vec<D> (&lanes)[vectors]) const {
    constexpr std::size_t length = hn::MaxLanes(D());
    for (std::size_t v = 0; v < vectors; ++v) {
      const std::size_t index = i + v * length;
      lanes[v] = inputs.size() <= 2 ? of_few(d, index) : of_many(d, index);
    }
  }

 private:
  template <class D>
  HWY_INLINE hn::Vec<D> input(D d, std::size_t number, std::size_t index) const {
    return load<Plain<T>>(d, inputs[number] + index * sizeof(T));
  }

  /// Of one or two inputs the processor's addition is the exact sum rounded once, where that is finite.
  template <class D>
  HWY_INLINE hn::Vec<D> of_few(D d, std::size_t index) const {
    auto sums = input(d, 0, index);
    if (inputs.size() > 1) sums = hn::Add(sums, input(d, 1, index));
    return mended(d, sums, hn::IsFinite(sums), index);
  }

  template <class D>
  HWY_INLINE hn::Vec<D> of_many(D d, std::size_t index) const {
    auto high = input(d, 0, index);
    auto low = hn::Zero(d);
    auto lost = hn::Zero(d);
    for (std::size_t number = 1; number < inputs.size(); ++number) {
      const Pair<D> of_high = two_sum<D>(high, input(d, number, index));
      const Pair<D> of_low = two_sum<D>(low, of_high.error);
      high = of_high.sum;
      low = of_low.sum;
      lost = hn::Add(lost, hn::Abs(of_low.error));
    }
    const Pair<D> rounded = two_sum<D>(high, low);
    const auto known = hn::And(hn::IsFinite(rounded.sum), certain(d, rounded, lost));
    const auto sums = hn::IfThenElse(hn::Eq(low, hn::Zero(d)), high, rounded.sum);  // keeps the sign of a zero
    return mended(d, sums, known, index);
  }

  /// `sums` where they are `known`, elsewhere what an ExactSum says.
  template <class D>
  HWY_INLINE hn::Vec<D> mended(D d, hn::Vec<D> sums, hn::Mask<D> known, std::size_t index) const {
    if (hn::AllTrue(d, known)) return sums;
    constexpr std::size_t length = hn::MaxLanes(D());
    alignas(64) T values[length];
    alignas(64) T unknown[length];
    hn::Store(sums, d, values);
    hn::Store(hn::IfThenElseZero(hn::Not(known), hn::Set(d, T{1})), d, unknown);
    for (std::size_t lane = 0; lane < length; ++lane) {
      if (unknown[lane] != 0) values[lane] = exactly(index + lane);
    }
    return hn::Load(d, values);
  }

  HWY_NOINLINE T exactly(std::size_t index) const {
    ExactSum<T> sum;
    for (const std::byte* const input : inputs) {
      T value;
      std::memcpy(&value, input + index * sizeof value, sizeof value);
      sum += value;
    }
    return sum.value();
  }
};

template <class T>
void exact_sums(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store how) {
  write<Plain<T>>(out, ExactSums<T>{inputs}, count, how);
}

template <class T>
void exact_sums_of_parts(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store how) {
  exact_sums<T>(out, inputs, 2 * count, how);
}

Reduce choose_exact_sum(DataType type) {
  switch (type) {
    case DataType::float32:
      return exact_sums<float>;
    case DataType::float64:
      return exact_sums<double>;
    case DataType::complex64:
      return exact_sums_of_parts<float>;
    case DataType::complex128:
      return exact_sums_of_parts<double>;
    default:
      return nullptr;
  }
}

}  // namespace chorus::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace chorus::kernels {

HWY_EXPORT(choose_exact_sum);
Reduce exact_sum(DataType type) noexcept { return HWY_DYNAMIC_DISPATCH(choose_exact_sum)(type); }

}  // namespace chorus::kernels
#endif
