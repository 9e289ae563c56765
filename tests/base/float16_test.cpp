// SPDX-License-Identifier: Apache-2.0
#include <chorus/float16.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace chorus {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

template <class Half>
std::uint16_t bits(float value) {
  return Half(value).bits;
}

static_assert(float16_t(1.0F).bits == 0x3C00 && static_cast<float>(float16_t(0.5F)) == 0.5F, "usable at compile time");
static_assert(bfloat16_t(1.0F).bits == 0x3F80 && static_cast<float>(bfloat16_t(-2.0F)) == -2.0F);

TEST(Float16, EveryPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    float16_t half;
    half.bits = static_cast<std::uint16_t>(pattern);
    const float value = half;
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(float16_t(value)))) << pattern;
    } else {
      ASSERT_EQ(bits<float16_t>(value), pattern);
    }
  }
}

TEST(Float16, HasTheValuesOfTheStandard) {
  EXPECT_EQ(bits<float16_t>(0.0F), 0x0000);
  EXPECT_EQ(bits<float16_t>(-0.0F), 0x8000);
  EXPECT_EQ(bits<float16_t>(65504.0F), 0x7BFF) << "the largest";
  EXPECT_EQ(bits<float16_t>(0x1p-14F), 0x0400) << "the smallest normal number";
  EXPECT_EQ(bits<float16_t>(0x1p-24F), 0x0001) << "the smallest subnormal number";
  EXPECT_EQ(bits<float16_t>(infinity), 0x7C00);
  EXPECT_EQ(bits<float16_t>(-infinity), 0xFC00);
  EXPECT_TRUE(std::isnan(static_cast<float>(float16_t(not_a_number))));
}

TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(bits<float16_t>(1.0F + 0x1p-11F), 0x3C00) << "halfway, down to even";
  EXPECT_EQ(bits<float16_t>(1.0F + 3 * 0x1p-11F), 0x3C02) << "halfway, up to even";
  EXPECT_EQ(bits<float16_t>(1.0F + 0x1p-11F + 0x1p-23F), 0x3C01) << "just above halfway";
  EXPECT_EQ(bits<float16_t>(65519.0F), 0x7BFF) << "just below halfway to overflow";
  EXPECT_EQ(bits<float16_t>(65520.0F), 0x7C00) << "overflow";
  EXPECT_EQ(bits<float16_t>(-65520.0F), 0xFC00);
  EXPECT_EQ(bits<float16_t>(std::numeric_limits<float>::max()), 0x7C00);
  EXPECT_EQ(bits<float16_t>(0x1p-25F), 0x0000) << "halfway to the smallest, to even";
  EXPECT_EQ(bits<float16_t>(std::nextafterf(0x1p-25F, 1)), 0x0001);
  EXPECT_EQ(bits<float16_t>(3 * 0x1p-25F), 0x0002) << "halfway between subnormal numbers";
  EXPECT_EQ(bits<float16_t>(0x1p-14F - 0x1p-26F), 0x0400) << "a subnormal number that rounds up to a normal one";
  EXPECT_EQ(bits<float16_t>(-std::numeric_limits<float>::denorm_min()), 0x8000);
}

TEST(BFloat16, EveryPatternSurvivesTheWayThroughFloat) {
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    bfloat16_t half;
    half.bits = static_cast<std::uint16_t>(pattern);
    const float value = half;
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16_t(value)))) << pattern;
    } else {
      ASSERT_EQ(bits<bfloat16_t>(value), pattern);
    }
  }
}

TEST(BFloat16, RoundsToTheNearestAndTiesToEven) {
  EXPECT_EQ(bits<bfloat16_t>(1.0F + 0x1p-8F), 0x3F80) << "halfway, down to even";
  EXPECT_EQ(bits<bfloat16_t>(1.0F + 3 * 0x1p-8F), 0x3F82) << "halfway, up to even";
  EXPECT_EQ(bits<bfloat16_t>(1.0F + 0x1p-8F + 0x1p-23F), 0x3F81);
  EXPECT_EQ(bits<bfloat16_t>(std::numeric_limits<float>::max()), 0x7F80) << "overflow";
  EXPECT_EQ(bits<bfloat16_t>(-infinity), 0xFF80);
  EXPECT_EQ(bits<bfloat16_t>(std::numeric_limits<float>::denorm_min()), 0x0000);
}

TEST(BFloat16, NotANumberStaysOne) {
  for (const std::uint32_t pattern : {0x7F800001U, 0x7FFFFFFFU, 0xFF800001U, 0x7FC00000U}) {
    EXPECT_TRUE(std::isnan(static_cast<float>(bfloat16_t(std::bit_cast<float>(pattern))))) << std::hex << pattern;
  }
}

}  // namespace
}  // namespace chorus
