// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernels.hpp"

#include "kernels/long_copies.hpp"
#include "memory.hpp"
#include "oracle.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace chorus {
namespace {

using kernels::Store;
using test::Guarded;
using test::Unaligned;

// CHORUS_TEST_SIMD=AVX2 keeps the kernels from anything better than AVX2, an unknown name from all but the baseline. It
// acts before the first kernel is chosen.
[[maybe_unused]] const bool limited = [] {
  const char* const best = std::getenv("CHORUS_TEST_SIMD");
  if (best == nullptr) return false;
  std::int64_t better = 0;
  for (std::int64_t target = 1; target < HWY_EMU128 && best != std::string(hwy::TargetName(target)); target *= 2) {
    better |= target;
  }
  hwy::DisableTargets(better);
  return true;
}();

constexpr std::array<std::size_t, 14> counts = {0, 1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 1000, 4099};
constexpr std::size_t longest = counts.back();
constexpr std::array both_stores = {Store::cached, Store::streamed};

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& elements, std::size_t count) {
  return std::as_bytes(std::span(elements).first(count));
}

/// Holds `count` elements at `result`, of any alignment, to those expected.
template <class T>
void expect_equal(const std::byte* result, const T* expected, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, result + i * sizeof element, sizeof element);
    ASSERT_TRUE(test::same(element, expected[i])) << "element " << i << " of " << count;
  }
}

/// Inputs of one type and what they reduce to.
template <class T>
struct Example {
  std::vector<std::vector<T>> inputs;
  std::vector<std::vector<T>> results;

  Example(ReduceOp op, int inputs_count, std::mt19937_64& random) {
    for (int j = 0; j < inputs_count; ++j) {
      inputs.emplace_back();
      for (std::size_t i = 0; i < longest; ++i) inputs.back().push_back(test::random_element<T>(random));
    }
    results = test::running_reductions(op, inputs);
  }

  /// The first `count` elements of the first `inputs_count` inputs, each at another offset.
  [[nodiscard]] std::vector<Unaligned> place(std::size_t inputs_count, std::size_t count,
                                             std::mt19937_64& random) const {
    std::vector<Unaligned> placed;
    for (std::size_t j = 0; j < inputs_count; ++j) placed.emplace_back(bytes_of(inputs[j], count), random() % 64);
    return placed;
  }
};

std::vector<const std::byte*> addresses(const std::vector<Unaligned>& buffers) {
  std::vector<const std::byte*> result;
  for (const Unaligned& buffer : buffers) result.push_back(buffer.data());
  return result;
}

class Kernels : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  const DataType type = static_cast<DataType>(std::get<0>(GetParam()));
  const ReduceOp op = static_cast<ReduceOp>(std::get<1>(GetParam()));
  std::mt19937_64 random{
      static_cast<std::uint64_t>(std::get<0>(GetParam()) * reduce_op_count + std::get<1>(GetParam()))};
};

TEST_P(Kernels, ReduceEqualsTheOracle) {
  test::with_type(type, [&]<class T>(T) {
    const Example<T> example(op, 9, random);
    for (const std::size_t inputs_count : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      for (const std::size_t count : counts) {
        for (const Store store : both_stores) {
          for (const std::size_t offset : {std::size_t{0}, random() % 64, sizeof(T) * (random() % 64 / sizeof(T))}) {
            const std::vector<Unaligned> inputs = example.place(inputs_count, count, random);
            const Guarded out(count * sizeof(T), offset);
            kernels::reduce(type, op)(out.data(), addresses(inputs), count, store);
            expect_equal(out.data(), example.results[inputs_count - 1].data(), count);
            ASSERT_TRUE(out.intact()) << count << " elements at offset " << offset;
          }
        }
      }
    }
  });
}

TEST_P(Kernels, OutputMayBeAnyInput) {
  test::with_type(type, [&]<class T>(T) {
    const Example<T> example(op, 5, random);
    for (const std::size_t inputs_count : {1, 2, 3, 5}) {
      for (const std::size_t count : counts) {
        for (std::size_t j = 0; j < inputs_count; ++j) {
          const std::vector<Unaligned> inputs = example.place(inputs_count, count, random);
          kernels::reduce(type, op)(inputs[j].data(), addresses(inputs), count, Store::cached);
          expect_equal(inputs[j].data(), example.results[inputs_count - 1].data(), count);
        }
      }
    }
  });
}

std::vector<std::tuple<int, int>> supported_pairs() {
  std::vector<std::tuple<int, int>> pairs;
  for (int type = 0; type < data_type_count; ++type) {
    for (int op = 0; op < reduce_op_count; ++op) {
      if (kernels::supports(static_cast<DataType>(type), static_cast<ReduceOp>(op))) pairs.emplace_back(type, op);
    }
  }
  return pairs;
}

std::string name_of(const testing::TestParamInfo<std::tuple<int, int>>& info) {
  static const std::array types = {"boolean", "int8",        "int16",     "int32",     "int64",    "uint8",
                                   "uint16",  "uint32",      "uint64",    "float16",   "bfloat16", "float32",
                                   "float64", "long_double", "complex64", "complex128"};
  static const std::array ops = {"sum",        "product",     "min",         "max",        "average",    "logical_and",
                                 "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"};
  return std::string(types.at(std::get<0>(info.param))) + "_" + ops.at(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Every, Kernels, testing::ValuesIn(supported_pairs()), name_of);

TEST(Supports, WhatTheDefinitionOfReduceOpSays) {
  for (int t = 0; t < data_type_count; ++t) {
    const auto type = static_cast<DataType>(t);
    const bool floating = type >= DataType::float16;
    const bool ordered = type <= DataType::long_double;
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::average}) {
      EXPECT_EQ(kernels::supports(type, op), type != DataType::boolean && type != DataType::opaque);
    }
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) EXPECT_EQ(kernels::supports(type, op), ordered);
    for (const ReduceOp op : {ReduceOp::logical_and, ReduceOp::logical_or, ReduceOp::logical_xor, ReduceOp::bitwise_and,
                              ReduceOp::bitwise_or, ReduceOp::bitwise_xor}) {
      EXPECT_EQ(kernels::supports(type, op), !floating);
    }
    for (int o = 0; o < reduce_op_count; ++o) {
      const auto op = static_cast<ReduceOp>(o);
      EXPECT_EQ(kernels::reduce(type, op) != nullptr, kernels::supports(type, op));
    }
    EXPECT_FALSE(kernels::supports(type, static_cast<ReduceOp>(reduce_op_count)));
  }
}

/// inout[i] = inout[i] op in[i].
template <class T>
void join_into(std::vector<T>& inout, const std::vector<T>& in, DataType type, ReduceOp op) {
  auto* const out = reinterpret_cast<std::byte*>(inout.data());
  const std::array<const std::byte*, 2> inputs = {out, reinterpret_cast<const std::byte*>(in.data())};
  kernels::reduce(type, op)(out, inputs, inout.size(), Store::cached);
}

/// All 65,536 bit patterns of a half, converted to float, joined with `other` there, and converted back.
template <class Half>
void expect_conversions_of(DataType type, ReduceOp op, float other) {
  std::vector<Half> inout(65536);
  std::vector<Half> expected(65536);
  for (std::size_t i = 0; i < inout.size(); ++i) {
    inout[i].bits = static_cast<std::uint16_t>(i);
    expected[i] = Half(test::joined_floats(op, float{inout[i]}, float{Half(other)}));
  }
  const std::vector<Half> in(65536, Half(other));
  join_into(inout, in, type, op);
  for (std::size_t i = 0; i < inout.size(); ++i) {
    ASSERT_EQ(inout[i].bits, expected[i].bits) << "pattern " << i << ", other " << other;
  }
}

TEST(Halves, EveryPatternConvertsAsTheHeaderSays) {
  for (const float other :
       {0.0F, 1.0F, -1.0F, 0x1p-24F, 0x1.8p-15F, 0x1.554p-2F, 1023.5F, 65504.0F, -65504.0F, 0x1p127F}) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::max}) {
      expect_conversions_of<float16_t>(DataType::float16, op, other);
      expect_conversions_of<bfloat16_t>(DataType::bfloat16, op, other);
    }
  }
}

// Which of two equal or incomparable numbers a minimum takes must not depend on where they lie.
TEST(Floats, MinimumOfZerosAndNotANumberIsTheSameEverywhere) {
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [a, b] : {std::pair{0.0F, -0.0F}, {-0.0F, 0.0F}, {not_a_number, 1.0F}, {1.0F, not_a_number}}) {
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
      for (const std::size_t count : counts) {
        std::vector<float> inout(count, a);
        const std::vector<float> in(count, b);
        join_into(inout, in, DataType::float32, op);
        for (const float result : inout) ASSERT_TRUE(test::same(result, a)) << a << ' ' << b;
      }
    }
  }
}

/// All bit patterns as floats, and back, divided.
template <class Half>
void expect_widened_and_narrowed(DataType type) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{37}, std::size_t{65536}}) {
    std::vector<Half> halves(count);
    for (std::size_t i = 0; i < count; ++i) halves[i].bits = static_cast<std::uint16_t>(i * 65535 / count);
    const Guarded floats(count * sizeof(float), 4);
    kernels::widen(type)(floats.data(), reinterpret_cast<const std::byte*>(halves.data()), count);
    ASSERT_TRUE(floats.intact());
    for (const int divisor : {1, 3, 200}) {
      std::vector<Half> expected;
      for (std::size_t i = 0; i < count; ++i) {
        float wide = 0;
        std::memcpy(&wide, floats.data() + i * sizeof wide, sizeof wide);
        ASSERT_TRUE(test::same(wide, float{halves[i]})) << "pattern " << halves[i].bits;
        expected.emplace_back(wide / static_cast<float>(divisor));
      }
      const Guarded narrowed(count * sizeof(Half), 2);
      kernels::narrow(type)(narrowed.data(), floats.data(), count, divisor);
      expect_equal(narrowed.data(), expected.data(), count);
      ASSERT_TRUE(narrowed.intact());
    }
  }
}

TEST(Halves, AreWidenedAndNarrowed) {
  expect_widened_and_narrowed<float16_t>(DataType::float16);
  expect_widened_and_narrowed<bfloat16_t>(DataType::bfloat16);
}

TEST(Divide, EqualsTheOracle) {
  std::mt19937_64 random;
  for (int t = 1; t < static_cast<int>(DataType::opaque); ++t) {
    test::with_type(static_cast<DataType>(t), [&]<class T>(T) {
      for (const int ranks : {1, 2, 3, 7, 200, 70000}) {
        for (const std::size_t count : counts) {
          std::vector<T> sums;
          std::vector<T> expected;
          for (std::size_t i = 0; i < count; ++i) {
            sums.push_back(test::random_element<T>(random));
            if constexpr (std::is_integral_v<T>)
              expected.push_back(static_cast<T>(__int128{sums[i]} / ranks));
            else if constexpr (test::is_half<T>)
              expected.push_back(sums[i]);  // their averages are divided by the reduction
            else if constexpr (test::is_complex<T>)
              expected.push_back(sums[i] / static_cast<typename T::value_type>(ranks));
            else
              expected.push_back(sums[i] / static_cast<T>(ranks));
          }
          const Guarded inout(count * sizeof(T), random() % 64);
          const std::span<const std::byte> content = bytes_of(sums, count);
          kernels::copy(inout.data(), content.data(), content.size(), Store::cached);
          kernels::divide(inout.data(), count, static_cast<DataType>(t), ranks);
          expect_equal(inout.data(), expected.data(), count);
          ASSERT_TRUE(inout.intact());
        }
      }
    });
  }
}

TEST(Copy, AnySizeFromAndToAnyOffset) {
  std::mt19937_64 random;
  std::vector<std::byte> content(std::size_t{1} << 20U);
  for (std::byte& byte : content) byte = static_cast<std::byte>(random());
  const auto check = [&](std::size_t bytes, std::size_t from, std::size_t to, Store store) {
    const Unaligned in(std::span<const std::byte>(content).first(bytes), from);
    const Guarded out(bytes, to);
    kernels::copy(out.data(), in.data(), bytes, store);
    ASSERT_TRUE(std::equal(in.data(), in.data() + bytes, out.data())) << bytes << " bytes to offset " << to;
    ASSERT_TRUE(out.intact()) << bytes << " bytes to offset " << to;
  };
  for (const Store store : both_stores) {
    for (const std::size_t bytes : counts) {
      for (std::size_t offset = 0; offset < 64; ++offset) check(bytes, random() % 64, offset, store);
    }
    for (std::size_t bytes = 0; bytes < 1100; ++bytes) check(bytes, random() % 64, random() % 64, store);
    for (const kernels::CopyBy by : {kernels::CopyBy::vectors, kernels::CopyBy::library}) {
      kernels::set_copy_by(by);
      for (const std::size_t bytes : {std::size_t{4095}, std::size_t{4096}, std::size_t{70'001}, content.size() - 1}) {
        check(bytes, 1, 3, store);
        check(bytes, 0, 0, store);
      }
    }
  }
}

TEST(Copy, AMebibyteAndMoreWhicheverWayItGoes) {
  std::vector<std::byte> content(3 * kernels::LongCopies<>::from + 13);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i * 7 >> 3U);
  for (std::size_t copy = 0; copy < 40; ++copy) {
    const std::size_t bytes = content.size() - copy * kernels::LongCopies<>::from / 20;
    const Guarded out(bytes, copy % 3);
    kernels::copy(out.data(), content.data() + copy % 5, bytes - copy % 5, Store::cached);
    ASSERT_TRUE(std::equal(out.data(), out.data() + bytes - copy % 5, content.data() + copy % 5)) << copy;
    ASSERT_TRUE(out.intact()) << copy;
  }
}

/// Stands still unless it is told otherwise.
struct StoppedClock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<StoppedClock>;
  static time_point now() { return time; }
  static inline time_point time;
};

TEST(LongCopies, GoTheFasterWayAndNoticeWhenItChanges) {
  kernels::LongCopies<StoppedClock> copies;
  const auto streamed_of = [&](int number, Store slow) {
    int streamed = 0;
    for (int copy = 0; copy < number; ++copy) {
      copies.run(kernels::LongCopies<>::from, [&](Store store) {
        streamed += store == Store::streamed ? 1 : 0;
        StoppedClock::time += std::chrono::microseconds(store == slow ? 150 : 100);
      });
    }
    return streamed;
  };
  EXPECT_EQ(streamed_of(8, Store::cached), 4) << "they take turns";
  EXPECT_EQ(streamed_of(64, Store::cached), 62);
  streamed_of(320, Store::streamed);
  EXPECT_EQ(streamed_of(64, Store::streamed), 2);
}

}  // namespace
}  // namespace chorus
