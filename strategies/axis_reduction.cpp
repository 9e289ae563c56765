// SPDX-License-Identifier: Apache-2.0
// Reductions over the dimensions of a replica's own tensor. Sums lose no digits that the result has: float and shorter
// numbers are added up as double, and sums of double remember what they have rounded away.
#include "axis_reduction.hpp"

#include "with_type.hpp"

#include <chorus/float16.hpp>
#include <chorus/strategies/axes.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace chorus::detail {
namespace {

/// The type that sums of T are made in.
template <class T>
using SumOf = std::conditional_t<std::same_as<ComputedIn<T>, float>, double, T>;
template <class T>
inline constexpr bool rounds = std::floating_point<ComputedIn<T>>;

DataType sum_type_of(DataType type) {
  if (type == DataType::float16 || type == DataType::bfloat16 || type == DataType::float32) return DataType::float64;
  return type == DataType::complex64 ? DataType::complex128 : type;
}

/// `number` in float, where what is rounded away makes an even one odd: rounded on to 16 bits, it is rounded as if once
/// (Boldo and Melquiond, IEEE Trans. Comput. 57(4), 2008).
float rounded_to_odd(double number) {
  const auto nearest = static_cast<float>(number);
  const bool is_odd = (std::bit_cast<std::uint32_t>(nearest) & 1U) != 0;
  if (is_odd || static_cast<double>(nearest) == number || std::isnan(number)) return nearest;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, number > nearest ? infinity : -infinity);
}

/// What joined with any other value by min or max gives the other.
template <class T>
T neutral(ReduceOp op) {
  using Limits = std::numeric_limits<ComputedIn<T>>;
  if (op == ReduceOp::min) return T(Limits::has_infinity ? Limits::infinity() : Limits::max());
  if (op == ReduceOp::max) return T(Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  return T{};
}

/// Adds `number` to `sum`, and to `lost` what is rounded away (Knuth's TwoSum).
template <class Sum>
void add(Sum& sum, Sum& lost, Sum number) {
  const Sum total = sum + number;
  const Sum added = total - sum;
  lost += (sum - (total - added)) + (number - added);
  sum = total;
}

/// Adds numbers that lie side by side, in several lanes at a time. A sum of shorter numbers has digits to spare.
template <class T, class Sum>
void add_all(Sum& sum, Sum& lost, const T* numbers, std::size_t count) {
  constexpr std::size_t lanes = 8;
  std::array<Sum, lanes> sums{};
  std::array<Sum, lanes> losses{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if constexpr (std::same_as<T, Sum>)
        add(sums[lane], losses[lane], numbers[i + lane]);
      else
        sums[lane] += static_cast<Sum>(numbers[i + lane]);
    }
  }
  for (std::size_t lane = 0; lane < lanes && i > 0; ++lane) {
    add(sum, lost, sums[lane]);
    lost += losses[lane];
  }
  for (; i < count; ++i) add(sum, lost, static_cast<Sum>(numbers[i]));
}

template <class T, class Sum>
void add_up(const AxisRuns& runs, const T* in, Sum* sums) {
  std::vector<Sum> lost(runs.result_count());
  const std::size_t length = runs.length();
  runs.for_each([&](std::size_t from, std::size_t to) {
    if (!runs.kept()) return add_all(sums[to], lost[to], in + from, length);
    for (std::size_t i = 0; i < length; ++i) add(sums[to + i], lost[to + i], static_cast<Sum>(in[from + i]));
  });
  for (std::size_t i = 0; i < lost.size(); ++i) {
    if (std::isfinite(lost[i])) sums[i] += lost[i];  // else the sum is infinite, or not a number
  }
}

template <class T>
void join(ReduceOp op, const AxisRuns& runs, const T* in, T* out) {
  std::fill_n(out, runs.result_count(), neutral<T>(op));
  const std::size_t length = runs.length();
  const std::size_t step = runs.kept() ? 1 : 0;
  runs.for_each([&](std::size_t from, std::size_t to) {
    for (std::size_t i = 0; i < length; ++i) out[to + i * step] = joined(op, out[to + i * step], in[from + i]);
  });
}

}  // namespace

AxisPartial::AxisPartial(const TensorRef& tensor, const AxisRuns& runs)
    : type_(sum_type_of(tensor.type)),
      shape_(runs.shape()),
      count_(runs.result_count()),
      memory_(element_count(shape_) * size_of(type_)) {}

AxisPartial::AxisPartial(ReduceOp join_by, const TensorRef& tensor, const AxisRuns& runs) : AxisPartial(tensor, runs) {
  if (join_by != ReduceOp::sum) type_ = tensor.type;
  with_type(tensor.type, [&]<class T>() {
    const T* const in = reinterpret_cast<const T*>(tensor.data);
    if constexpr (rounds<T>) {
      if (join_by == ReduceOp::sum) return add_up(runs, in, reinterpret_cast<SumOf<T>*>(memory_.data()));
    }
    join(join_by, runs, in, reinterpret_cast<T*>(memory_.data()));
  });
}

void AxisPartial::put(const TensorRef& result, std::optional<std::uint64_t> averaged_over) const {
  if (type_ == result.type && !averaged_over) {
    if (result.bytes() != 0) std::memcpy(result.data, memory_.data(), result.bytes());
    return;
  }
  with_type(result.type, [&]<class T>() {
    if constexpr (rounds<T>) {
      using Sum = SumOf<T>;
      const Sum* const from = reinterpret_cast<const Sum*>(memory_.data());
      T* const to = reinterpret_cast<T*>(result.data);
      const Sum divisor = static_cast<Sum>(averaged_over.value_or(1));
      for (std::size_t i = 0; i < count_; ++i) {
        if constexpr (!std::same_as<ComputedIn<T>, T>)
          to[i] = T(rounded_to_odd(from[i] / divisor));
        else
          to[i] = static_cast<T>(from[i] / divisor);
      }
    }
  });
}

bool has_exact_sums(DataType type) noexcept {
  return type >= DataType::float16 && type <= DataType::complex128 && type != DataType::long_double;
}

void add_exactly(std::span<ExactSum<double>> sums, std::size_t first, const TensorRef& tensor, const AxisRuns& runs) {
  const std::size_t end = first + sums.size();
  with_type(tensor.type, [&]<class T>() {
    if constexpr (rounds<T> && !std::same_as<T, long double>) {
      const T* const in = reinterpret_cast<const T*>(tensor.data);
      const std::size_t step = runs.kept() ? 1 : 0;
      runs.for_each([&](std::size_t from, std::size_t to) {
        if (to >= end || to + step * runs.length() + 1 - step <= first) return;
        const std::size_t begin = step == 1 && to < first ? first - to : 0;
        const std::size_t stop = step == 1 ? std::min(runs.length(), end - to) : runs.length();
        for (std::size_t i = begin; i < stop; ++i) sums[to + i * step - first] += static_cast<double>(in[from + i]);
      });
    }
  });
}

}  // namespace chorus::detail
