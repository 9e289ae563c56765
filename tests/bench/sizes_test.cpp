// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include "table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace chorus::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SizeRange, IsReadAsTheOsuBenchmarksReadIt) {
  EXPECT_EQ(parse_size_range("8:64").min, 8U);
  EXPECT_EQ(parse_size_range("8:64").max, 64U);
  EXPECT_EQ(parse_size_range("64").min, 4U);
  EXPECT_EQ(parse_size_range("64").max, 64U);
  EXPECT_EQ(parse_size_range("4K:2M").min, 4096U);
  EXPECT_EQ(parse_size_range("4K:2M").max, 2097152U);
  EXPECT_EQ(parse_size_range("2^2:2^20").min, 4U);
  EXPECT_EQ(parse_size_range("2^2:2^20").max, 1048576U);
}

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_size_range(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SizeRange, RefusesWhatIsNoRange) {
  for (const char* text : {"", ":", "8:", ":8", "x", "-4", "4:x", "1.5K", "8:16:32", "99999999999G", "4Q", "2^", "2^x",
                           "2^64", "2^-1", "3^2"}) {
    EXPECT_THAT(refusal_of(text), HasSubstr("is no size")) << text;
  }
  EXPECT_EQ(refusal_of("8:4"), "the smallest size, 8 bytes, is larger than the largest, 4 bytes");
  EXPECT_EQ(refusal_of("5:7"), "no whole number of float32 elements has 5 to 7 bytes");
}

TEST(DoublingSizes, AreWholeElements) {
  EXPECT_THAT(doubling_sizes({.min = 4, .max = 64}), ElementsAre(4, 8, 16, 32, 64));
  EXPECT_THAT(doubling_sizes({.min = 1, .max = 20}), ElementsAre(4, 8, 16));
  EXPECT_THAT(doubling_sizes({.min = 0, .max = 8}), ElementsAre(0, 4, 8));
  EXPECT_THAT(doubling_sizes({.min = 48, .max = 100}), ElementsAre(48, 96));
  EXPECT_EQ(doubling_sizes({.min = 4, .max = SIZE_MAX}).back(), SIZE_MAX / 2 + 1);
}

const Row& row_named(const std::string& name) {
  return *std::find_if(table().begin(), table().end(), [&](const Row& row) { return row.name == name; });
}

TEST(FittingSize, IsRoundedDownWhereTheInputIsSplit) {
  EXPECT_EQ(fitting_size(row_named("reduce_scatter_block"), 64, 3), 60U);
  EXPECT_EQ(fitting_size(row_named("reduce_scatter_block"), 8, 3), 0U);
  EXPECT_EQ(fitting_size(row_named("allreduce"), 64, 3), 64U);
}

TEST(Lengths, FollowTheOsuBenchmarks) {
  EXPECT_EQ(row_named("allgather").lengths(6, 3).in, 6U);
  EXPECT_EQ(row_named("allgather").lengths(6, 3).out, 18U);
  EXPECT_EQ(row_named("reduce_scatter_block").lengths(6, 3).in, 6U);
  EXPECT_EQ(row_named("reduce_scatter_block").lengths(6, 3).out, 2U);
  EXPECT_EQ(row_named("bcast").lengths(6, 3).out, 6U);
  EXPECT_EQ(row_named("gather").lengths(6, 3).out, 18U);
  EXPECT_EQ(row_named("scatter").lengths(6, 3).in, 18U);
  EXPECT_EQ(row_named("scan").lengths(6, 3).in, 6U);
  EXPECT_EQ(row_named("alltoall").lengths(6, 3).in, 18U);
  EXPECT_EQ(row_named("alltoall").lengths(6, 3).out, 18U);
}

}  // namespace
}  // namespace chorus::bench
