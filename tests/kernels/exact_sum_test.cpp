// SPDX-License-Identifier: Apache-2.0
// Exact sums, held to whole numbers of any length and to themselves in other orders and groupings.

#include "kernels/kernels.hpp"

#include <chorus/exact_sum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace chorus {
namespace {

/// A whole number of bits, one a place, with its sign: slow and obvious. In units of the smallest subnormal of double.
class WholeNumber {
 public:
  explicit WholeNumber(double value) : negative_(std::signbit(value)), bits_(2400) {
    int exponent = 0;
    auto significand = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(value), &exponent), 53));
    int place = exponent - 53 + 1074;
    for (; place < 0; ++place) significand /= 2;  // the bits that a subnormal does not have
    for (; significand != 0; significand /= 2) bits_[static_cast<std::size_t>(place++)] = significand % 2 != 0;
  }

  void add(const WholeNumber& other) {
    if (negative_ == other.negative_) {
      combine(other.bits_, false);
    } else if (below(bits_, other.bits_)) {
      std::vector<bool> mine = other.bits_;
      mine.swap(bits_);
      negative_ = other.negative_;
      combine(mine, true);
    } else {
      combine(other.bits_, true);
    }
  }

  /// Rounded to `digits` bits, ties to even, as it is in a type whose smallest subnormal is 2^lowest and which ends
  /// before 2^end.
  [[nodiscard]] double rounded(int digits, int lowest, int end) const {
    int top = static_cast<int>(bits_.size()) - 1;
    while (top >= 0 && !bit(top)) --top;
    if (top < 0) return 0;
    const int last = std::max(top - digits + 1, lowest + 1074);  // the place of the last bit that is kept
    double value = 0;                                            // in units of that place
    for (int place = top; place >= last; --place) value = 2 * value + (bit(place) ? 1 : 0);
    bool beyond_half = false;
    for (int place = last - 2; place >= 0; --place) beyond_half |= bit(place);
    if (bit(last - 1) && (beyond_half || bit(last))) value += 1;
    const double magnitude = std::ilogb(value) + last - 1074 >= end ? std::numeric_limits<double>::infinity()
                                                                    : std::ldexp(value, last - 1074);
    return negative_ ? -magnitude : magnitude;
  }

 private:
  [[nodiscard]] bool bit(int place) const { return place >= 0 && bits_[static_cast<std::size_t>(place)]; }

  static bool below(const std::vector<bool>& left, const std::vector<bool>& right) {
    return std::lexicographical_compare(left.rbegin(), left.rend(), right.rbegin(), right.rend());
  }

  void combine(const std::vector<bool>& other, bool subtract) {
    bool carry = false;
    for (std::size_t place = 0; place < bits_.size(); ++place) {
      const bool mine = bits_[place];
      const bool theirs = other[place];
      bits_[place] = mine != (theirs != carry);
      carry = subtract ? (!mine && (theirs || carry)) || (theirs && carry)
                       : (mine && (theirs || carry)) || (theirs && carry);
    }
  }

  bool negative_;
  std::vector<bool> bits_;
};

template <class T>
bool same_bits(T left, T right) {
  return std::memcmp(&left, &right, sizeof left) == 0;
}

template <class T>
T oracle(const std::vector<T>& values) {
  WholeNumber sum(static_cast<double>(values[0]));
  for (std::size_t i = 1; i < values.size(); ++i) sum.add(WholeNumber(static_cast<double>(values[i])));
  using Limits = std::numeric_limits<T>;
  return static_cast<T>(sum.rounded(Limits::digits, Limits::min_exponent - Limits::digits, Limits::max_exponent));
}

/// By the kernel, each value from a rank of its own.
template <class T>
T by_kernel(const std::vector<T>& values) {
  constexpr DataType type = data_type_of<T>();
  std::vector<const std::byte*> inputs;
  for (const T& value : values) inputs.push_back(reinterpret_cast<const std::byte*>(&value));
  T result{};
  kernels::exact_sum(type)(reinterpret_cast<std::byte*>(&result), inputs, 1, kernels::Store::cached);
  return result;
}

/// In groups of random length that are added up as a tree.
template <class T>
T by_groups(const std::vector<T>& values, std::mt19937& random) {
  std::vector<ExactSum<T>> groups;
  for (const T value : values) {
    if (groups.empty() || random() % 3 == 0) groups.emplace_back();
    groups.back() += value;
  }
  while (groups.size() > 1) {
    const std::size_t left = random() % (groups.size() - 1);
    groups[left] = exact_sum(groups[left], groups[left + 1]);
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(left) + 1);
  }
  return groups[0].value();
}

template <class T>
T any_finite(std::mt19937& random) {
  for (;;) {
    T value;
    const std::uint64_t bits = std::uint64_t{random()} << 32U | random();
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) return value;
  }
}

/// Sets of numbers that are hard to add, each in its own way.
template <class T>
std::vector<T> hard_values(int kind, std::mt19937& random) {
  std::vector<T> values;
  const std::size_t count = 1 + random() % 24;
  std::uniform_real_distribution<T> real(-1, 1);
  for (std::size_t i = 0; i < count; ++i) {
    switch (kind) {
      case 0:  // over the whole range
        values.push_back(any_finite<T>(random));
        break;
      case 1:  // close to each other, as in programs
        values.push_back(real(random));
        break;
      case 2:  // few bits, many ties
        values.push_back(std::ldexp(static_cast<T>(static_cast<int>(random() % 15) - 7),
                                    static_cast<int>(random() % 3) * (std::numeric_limits<T>::digits - 1)));
        break;
      case 3:  // subnormal
        values.push_back(std::numeric_limits<T>::denorm_min() *
                         static_cast<T>(static_cast<int>(random() % 2000) - 999));
        break;
      case 4:  // near the end of the range: sums of some overflow, that of all may not
        values.push_back(std::numeric_limits<T>::max() * real(random));
        break;
      default:  // everything cancels but for little
        values.push_back(any_finite<T>(random));
        if (i % 2 == 1) values.back() = -values[i - 1];
    }
  }
  if (kind == 5) values.push_back(std::numeric_limits<T>::denorm_min());
  return values;
}

template <class T>
class ExactSums : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactSums, Reals);

TYPED_TEST(ExactSums, AreRoundedCorrectlyInEveryOrderAndGrouping) {
  std::mt19937 random(1);
  for (int kind = 0; kind < 6; ++kind) {
    for (int repetition = 0; repetition < 150; ++repetition) {
      std::vector<TypeParam> values = hard_values<TypeParam>(kind, random);
      const TypeParam expected = oracle(values);
      for (int order = 0; order < 3; ++order) {
        const TypeParam kernel = by_kernel(values);
        const TypeParam grouped = by_groups(values, random);
        ASSERT_TRUE(kernel == expected) << kernel << " for " << expected << ", kind " << kind;
        ASSERT_TRUE(same_bits(kernel, grouped)) << kernel << " and " << grouped << ", kind " << kind;
        std::ranges::shuffle(values, random);
      }
    }
  }
}

TYPED_TEST(ExactSums, RoundTiesToEvenAndSeeWhatBreaksThem) {
  using T = TypeParam;
  const T half = std::numeric_limits<T>::epsilon() / 2;  // half a unit of the last place of 1
  const T tiny = std::numeric_limits<T>::denorm_min();
  const T next = 1 + 2 * half;
  for (const auto& [values, expected] : std::vector<std::pair<std::vector<T>, T>>{{{1, half}, 1},
                                                                                  {{1, half, tiny}, next},
                                                                                  {{1, half, -tiny}, 1},
                                                                                  {{next, half}, next + 2 * half},
                                                                                  {{next, half, -tiny}, next},
                                                                                  {{1, -half / 2}, 1},
                                                                                  {{1, -half / 2, -tiny}, 1 - half}}) {
    EXPECT_EQ(by_kernel(values), expected);
    ExactSum<T> sum;
    for (const T value : values) sum += value;
    EXPECT_EQ(sum.value(), expected);
  }
}

TYPED_TEST(ExactSums, KeepWhatIsNoFiniteNumberInOrder) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity();
  const T other_nan = std::copysign(Limits::quiet_NaN(), T{-1});
  std::mt19937 random(1);
  for (const auto& [values, expected] :
       std::vector<std::pair<std::vector<T>, T>>{{{infinity, 1}, infinity},
                                                 {{Limits::max(), -infinity, Limits::max()}, -infinity},
                                                 {{infinity, -infinity}, Limits::quiet_NaN()},
                                                 {{infinity, other_nan, 1}, Limits::quiet_NaN()},
                                                 {{other_nan}, Limits::quiet_NaN()},
                                                 {{Limits::max(), Limits::max()}, infinity},
                                                 {{Limits::max(), Limits::max(), -Limits::max()}, Limits::max()},
                                                 {{-Limits::max(), -Limits::max(), 1}, -infinity},
                                                 {{T{-0.0}, T{-0.0}}, T{-0.0}},
                                                 {{T{-0.0}}, T{-0.0}},
                                                 {{T{-0.0}, T{0}}, T{0}},
                                                 {{T{-0.0}, 1, -1}, T{0}},
                                                 {{1, Limits::denorm_min(), -1, -Limits::denorm_min()}, T{0}}}) {
    std::vector<T> reversed(values.rbegin(), values.rend());
    EXPECT_TRUE(same_bits(by_kernel(values), expected)) << by_kernel(values) << " for " << expected;
    EXPECT_TRUE(same_bits(by_kernel(reversed), expected)) << by_kernel(reversed) << " for " << expected;
    EXPECT_TRUE(same_bits(by_groups(values, random), expected)) << expected;
  }
  EXPECT_TRUE(same_bits(ExactSum<T>().value(), T{0}));
}

TYPED_TEST(ExactSums, TakeManyElementsAtOnceIntoOneOfTheInputs) {
  using T = TypeParam;
  std::mt19937 random(2);
  constexpr std::size_t count = 1000;
  constexpr std::size_t ranks = 5;
  std::vector<std::vector<T>> inputs(ranks, std::vector<T>(count));
  std::vector<T> expected;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<T> values;
    for (std::vector<T>& input : inputs) {
      input[i] = i % 7 == 0 ? any_finite<T>(random) : static_cast<T>(random());
      values.push_back(input[i]);
    }
    expected.push_back(oracle(values));
  }
  std::vector<const std::byte*> pointers;
  for (const std::vector<T>& input : inputs) pointers.push_back(reinterpret_cast<const std::byte*>(input.data()));
  kernels::exact_sum(data_type_of<T>())(reinterpret_cast<std::byte*>(inputs[2].data()), pointers, count,
                                        kernels::Store::cached);
  EXPECT_EQ(inputs[2], expected);
}

TYPED_TEST(ExactSums, AreExactInBothPartsOfComplexNumbers) {
  using T = TypeParam;
  const std::vector<std::complex<T>> values = {{1, std::numeric_limits<T>::max()},
                                               {std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max()},
                                               {-1, -std::numeric_limits<T>::max()}};
  const std::complex<T> sum = by_kernel(values);
  EXPECT_EQ(sum.real(), std::numeric_limits<T>::denorm_min());
  EXPECT_EQ(sum.imag(), std::numeric_limits<T>::max());
}

TEST(ExactSumKernel, IsThereForNoOtherType) {
  for (int type = 0; type < data_type_count; ++type) {
    const auto data_type = static_cast<DataType>(type);
    const bool has = data_type == DataType::float32 || data_type == DataType::float64 ||
                     data_type == DataType::complex64 || data_type == DataType::complex128;
    EXPECT_EQ(kernels::exact_sum(data_type) != nullptr, has);
  }
}

}  // namespace
}  // namespace chorus
