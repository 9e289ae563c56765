// SPDX-License-Identifier: Apache-2.0
#include "strategies_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace chorus::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<double> four = {4, 4, 4}, three = {3, 3, 3}, two = {2, 2, 2}, one = {1, 1, 1};

TEST(StrategyTables, SayWhatARunAdds) {
  const std::string text =
      run_table({.name = "mirrored", .workers = 1, .replicas = 2}, "two threads", {.us = three, .other_us = two});
  EXPECT_THAT(text, HasSubstr("\n# Strategy: mirrored. Workers: 1. Replicas of each: 2.\n# Run: "));
  EXPECT_THAT(text, HasSubstr("Bare: two threads.\n"));
  EXPECT_THAT(
      text,
      HasSubstr("\n         3.000         2.000     1.500     1.500     1.500       1.000     1.000     1.000\n"));
  EXPECT_THAT(text, Not(HasSubstr("Note")));
  EXPECT_THAT(all_reduce_heading({.name = "mirrored", .crowded = true}, "nothing"),
              HasSubstr("\n# Note: more replicas"));
}

TEST(StrategyTables, SayWhatAnAllReduceAdds) {
  EXPECT_EQ(all_reduce_line(64, {.us = two, .other_us = four}),
            "64                   2.000         4.000     0.500     0.500     0.500      -2.000    -2.000    -2.000\n");
}

TEST(StrategyTables, SayWhatPacksGain) {
  EXPECT_THAT(gradients_heading({.name = "mirrored"}, 100, 10), HasSubstr("\n# 100 tensors of 10 bytes, "));
  EXPECT_EQ(gradients_line({.name = "in packs", .measured = {.us = one, .other_us = four}}),
            "in packs                             1.000     4.000     4.000     4.000\n");
}

TEST(StrategyTables, SayHowMuchComputationHides) {
  EXPECT_THAT(
      overlap_of_gradients({.alone_us = two, .afterwards_us = four, .overlapped_us = three, .pack_bytes = 5000}),
      HasSubstr("in packs of\n# 5000 bytes as they are computed, which hides 50.0 % [50.0, 50.0] of the reduction"));
  EXPECT_THAT(overlap_of_gradients({.alone_us = two, .afterwards_us = three, .overlapped_us = four, .pack_bytes = 1}),
              HasSubstr("hides 0.0 % "));
}

}  // namespace
}  // namespace chorus::bench
