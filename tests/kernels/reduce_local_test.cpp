// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/float16.hpp>
#include <chorus/premultiplied_sum.hpp>
#include <chorus/reduce_local.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace chorus {
namespace {

using testing::ElementsAre;

TEST(ReduceLocal, JoinsElementByElement) {
  std::vector<float> inout{1, 5, 3};
  reduce_local(std::vector<float>{4, 2, 3}, inout, ReduceOp::max);
  EXPECT_THAT(inout, ElementsAre(4, 5, 3));
  reduce_local(inout, inout, ReduceOp::sum);
  EXPECT_THAT(inout, ElementsAre(8, 10, 6));
  std::vector<int> none;
  reduce_local(none, none, ReduceOp::sum);
}

TEST(ReduceLocal, AFunctionGetsInOnTheLeft) {
  std::vector<int> inout{1, 2};
  reduce_local(std::vector<int>{30, 40}, inout, [](int left, int right) { return left - right; });
  EXPECT_THAT(inout, ElementsAre(29, 38));
}

int difference(const int& left, const int& right) { return left - right; }

TEST(ReduceLocal, AFunctionMayBeAnyThatCanBeCalled) {
  std::vector<int> inout{1, 2};
  reduce_local(std::vector<int>{30, 40}, inout, difference);
  EXPECT_THAT(inout, ElementsAre(29, 38));
  reduce_local(std::vector<int>{30, 40}, inout, &difference);
  EXPECT_THAT(inout, ElementsAre(1, 2));
}

template <class T>
T multiplied(T element, T factor) {
  detail::multiply<T>(&factor, reinterpret_cast<std::byte*>(&element), 1);
  return element;
}

TEST(PremultipliedSum, MultipliesIntegersSoThatTheyWrapAround) {
  EXPECT_EQ(multiplied<std::uint16_t>(65'535, 65'535), 1);
  EXPECT_EQ(multiplied<std::int8_t>(-128, -1), -128);
  EXPECT_EQ(multiplied<std::int32_t>(-7, 6), -42);
  EXPECT_EQ(multiplied<std::int32_t>(1 << 30, 6), std::int32_t{-2147483647} - 1);
  EXPECT_EQ(multiplied<std::int64_t>(std::int64_t{1} << 62, -3), std::int64_t{1} << 62);
  EXPECT_EQ(multiplied<std::uint64_t>(~std::uint64_t{0}, ~std::uint64_t{0}), 1U);
}

void expect_refused(const std::vector<double>& in, ReduceOp op, const std::string& text) {
  std::vector<double> inout{1, 2};
  try {
    reduce_local(in, inout, op);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
  EXPECT_THAT(inout, ElementsAre(1, 2));
}

TEST(ReduceLocal, WrongArgumentsAreRefused) {
  expect_refused({1}, ReduceOp::sum, "in has 1 elements and inout has 2");
  expect_refused({1, 2}, ReduceOp::average, "divide at the end");
  expect_refused({1, 2}, ReduceOp::bitwise_and, "bitwise_and is not an operation on two float64");
}

TEST(ReduceLocal, NullPointersWithElementsAndNegativeLengthsAreRefused) {
  std::vector<double> data{1, 2};
  const auto refused = [](std::span<const double> in, std::span<double> inout) -> std::string {
    try {
      reduce_local(in, inout, ReduceOp::sum);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const std::span<double> nothing(static_cast<double*>(nullptr), 2);
  EXPECT_THAT(refused(nothing, data), testing::HasSubstr("argument in is a null pointer with 2 elements"));
  EXPECT_THAT(refused(data, nothing), testing::HasSubstr("argument inout is a null pointer with 2 elements"));
  EXPECT_EQ(refused(nothing.first(0), nothing.first(0)), "");
  const std::span<double> negative(data.data(), std::size_t{0} - 1);
  EXPECT_THAT(refused(negative, negative), testing::HasSubstr("was a negative number converted?"));
}

template <class T>
class ReduceLocalOf : public testing::Test {};
using Types = testing::Types<std::int8_t, std::uint64_t, float, double, long double, float16_t, std::complex<double>>;
TYPED_TEST_SUITE(ReduceLocalOf, Types);

TYPED_TEST(ReduceLocalOf, JoinsTheElementsOfEachPlace) {
  for (const std::size_t count : {0, 1, 7, 1000}) {
    const std::vector<TypeParam> in(count, static_cast<TypeParam>(3.0F));
    std::vector<TypeParam> inout(count, static_cast<TypeParam>(4.0F));
    reduce_local(in, inout, ReduceOp::sum);
    EXPECT_EQ(inout, std::vector<TypeParam>(count, static_cast<TypeParam>(7.0F)));
    reduce_local(in, inout, ReduceOp::product);
    EXPECT_EQ(inout, std::vector<TypeParam>(count, static_cast<TypeParam>(21.0F)));
    EXPECT_EQ(in, std::vector<TypeParam>(count, static_cast<TypeParam>(3.0F)));
  }
}

TEST(ReduceLocal, BuffersMayLieSideBySideAndBeOne) {
  std::vector<int> values(20);
  std::iota(values.begin(), values.end(), 0);
  reduce_local(std::span(values).first(9), std::span(values).subspan(9, 9), ReduceOp::max);  // side by side
  reduce_local(std::span(values).subspan(11, 9), std::span(values).subspan(1, 9), ReduceOp::sum);
  EXPECT_EQ(values, (std::vector<int>{0, 12, 14, 16, 18, 20, 22, 24, 26, 28, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
  reduce_local(values, values, ReduceOp::sum);
  EXPECT_EQ(values[19], 38);
}

TEST(ReduceLocal, BuffersThatOverlapInPartAreRefused) {
  std::vector<double> values{1, 2, 3};
  const std::span<double> first(values.data(), 2);
  const std::span<double> last(values.data() + 1, 2);
  EXPECT_THROW(reduce_local(first, last, ReduceOp::sum), Error);
  EXPECT_THROW(reduce_local(last, first, ReduceOp::sum), Error);
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace chorus
