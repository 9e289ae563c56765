// SPDX-License-Identifier: Apache-2.0
//
// Exact sums of the same element of several inputs, rounded once.
//
// Most sums need no long accumulator. Knuth's two-sum gives what each addition rounds away; so do the additions of
// what was rounded away. With high + low as the sum so far, and the absolute values of what even `low` has lost added
// up in `lost`, the result is high + low rounded once, if `lost` is zero or cannot turn that rounding to another number
// (Shewchuk, Discrete & Computational Geometry 18, 1997; Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005). Where
// it might, or something overflows or is no number, an ExactSum decides: the result is the same either way.

#include "kernels/kernels.hpp"

#include <chorus/exact_sum.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace chorus::kernels {
namespace {

constexpr std::size_t block = 256;  // elements; what is known of them stays in the first-level cache

template <class T>
struct Pair {
  T sum;
  T error;  ///< left + right = sum + error, exactly, unless something overflows
};

template <class T>
Pair<T> two_sum(T left, T right) {
  const T sum = left + right;
  const T of_right = sum - left;
  return {sum, (left - (sum - of_right)) + (right - of_right)};
}

template <class T>
struct Sums {
  T high[block];
  T low[block];
  T lost[block];
};

template <class T>
T exactly(std::span<const std::byte* const> inputs, std::size_t index) {
  ExactSum<T> sum;
  for (const std::byte* const input : inputs) {
    T value;
    std::memcpy(&value, input + index * sizeof value, sizeof value);
    sum += value;
  }
  return sum.value();
}

template <class T>
void add(Sums<T>& sums, const T* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Pair<T> high = two_sum(sums.high[i], values[i]);
    const Pair<T> low = two_sum(sums.low[i], high.error);
    sums.high[i] = high.sum;
    sums.low[i] = low.sum;
    sums.lost[i] += std::abs(low.error);
  }
}

/// True where high + low, give or take `lost`, rounds to `rounded.sum`. The margin is wide enough for its own rounding
/// and that of `lost`, and leaves out ties.
template <class T>
bool certain(const Pair<T>& rounded, T lost) {
  if (!std::isfinite(rounded.sum)) return false;
  if (lost == 0) return true;
  const T margin = 2 * lost + 4 * std::numeric_limits<T>::epsilon() * std::abs(rounded.error);
  return rounded.sum + (rounded.error + margin) == rounded.sum && rounded.sum + (rounded.error - margin) == rounded.sum;
}

/// The processor's addition is the exact sum rounded once, where that is finite.
template <class T>
void exact_sums_of_two(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count) {
  T left[block];
  T right[block];
  for (std::size_t done = 0; done < count; done += block) {
    const std::size_t elements = std::min(block, count - done);
    const std::size_t offset = done * sizeof(T);
    std::memcpy(left, inputs[0] + offset, elements * sizeof(T));
    std::memcpy(right, inputs[1] + offset, elements * sizeof(T));
    bool finite = true;
    for (std::size_t i = 0; i < elements; ++i) {
      left[i] += right[i];
      finite &= std::abs(left[i]) <= std::numeric_limits<T>::max();
    }
    for (std::size_t i = 0; !finite && i < elements; ++i) left[i] = exactly<T>(inputs, done + i);
    std::memcpy(out + offset, left, elements * sizeof(T));
  }
}

template <class T>
void exact_sums(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store /*store*/) {
  if (inputs.size() == 2) return exact_sums_of_two<T>(out, inputs, count);
  Sums<T> sums;
  T values[block];
  for (std::size_t done = 0; done < count; done += block) {
    const std::size_t elements = std::min(block, count - done);
    const std::size_t offset = done * sizeof(T);
    std::memcpy(sums.high, inputs[0] + offset, elements * sizeof(T));
    std::fill_n(sums.low, elements, T{0});
    std::fill_n(sums.lost, elements, T{0});
    for (const std::byte* const input : inputs.subspan(1)) {
      std::memcpy(values, input + offset, elements * sizeof(T));
      add(sums, values, elements);
    }
    for (std::size_t i = 0; i < elements; ++i) {
      const Pair<T> rounded = two_sum(sums.high[i], sums.low[i]);
      if (!certain(rounded, sums.lost[i])) {
        values[i] = exactly<T>(inputs, done + i);
      } else {
        values[i] = sums.low[i] == 0 ? sums.high[i] : rounded.sum;  // keeps the sign of a zero
      }
    }
    std::memcpy(out + offset, values, elements * sizeof(T));
  }
}

template <class T>
void exact_sums_of_parts(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store store) {
  exact_sums<T>(out, inputs, 2 * count, store);
}

}  // namespace

Reduce exact_sum(DataType type) noexcept {
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

}  // namespace chorus::kernels
