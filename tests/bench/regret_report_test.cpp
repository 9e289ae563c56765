// SPDX-License-Identifier: Apache-2.0
#include "regret_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus::bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Regret right_choice() {
  const Quartiles us = {.p25 = 1, .median = 1.5, .p75 = 2};
  return {.collective = "bcast", .bytes = 8, .chosen = "line", .best = "line", .chosen_us = us, .best_us = us};
}

Regret wrong_choice() {
  Regret regret = right_choice();
  regret.bytes = 4096;
  regret.chosen = "scatter_allgather";
  regret.chosen_us.median = 6;
  regret.ratio = {.value = 4, .low = 3.5, .high = 4.5};
  return regret;
}

TEST(RegretTable, NamesTheChosenAndTheBestAlgorithm) {
  const std::string heading = regret_heading({.title = "Broadcast", .algorithm = "each", .ranks = 4});
  EXPECT_THAT(heading, HasSubstr("\n# chorus Broadcast Regret Test v"));
  EXPECT_THAT(heading, HasSubstr("\n# Ranks: 4. Algorithm: each.\n"));
  EXPECT_THAT(heading, EndsWith("\n# Size      Chosen                   Chosen Median(us)  Best                    "
                                " Best Median(us)    Regret  Regret Low  Regret High\n"));
  EXPECT_EQ(regret_line(wrong_choice()),
            "4096        scatter_allgather                    6.000  line                    "
            "           1.500     4.000       3.500        4.500\n");
}

TEST(RegretTable, OfABarrierHasNoSize) {
  Regret regret = right_choice();
  regret.has_size = false;
  EXPECT_THAT(regret_heading({.title = "Barrier", .algorithm = "each", .has_size = false}), HasSubstr("\n# Chosen "));
  EXPECT_EQ(regret_line(regret).find("line"), 0U);
}

TEST(RegretSummary, HasTheMeanAndTheWorst) {
  EXPECT_EQ(regret_summary("bcast", std::vector{right_choice(), wrong_choice()}),
            "# Regret of bcast: geometric mean 2.000, interval above 1 at 1 of 2, worst 4.000 [3.500, 4.500]: bcast of "
            "4096 bytes by "
            "scatter_allgather instead of line\n");
}

TEST(RegretSummary, NamesNoWorstWhereEveryChoiceIsTheBest) {
  EXPECT_EQ(regret_summary("bcast", std::vector{right_choice()}),
            "# Regret of bcast: geometric mean 1.000, interval above 1 at 0 of 1\n");
}

TEST(RegretSummary, DoesNotTakeNoiseForALoss) {
  Regret close = wrong_choice();
  close.ratio = {.value = 1.02, .low = 0.97, .high = 1.06};
  EXPECT_THAT(regret_summary("bcast", std::vector{close}), HasSubstr("above 1 at 0 of 1"));
}

TEST(Json, SaysOfRegretWhetherTheAlgorithmIsChosen) {
  Point point;
  EXPECT_THAT(json_line(point), Not(HasSubstr("chosen")));
  point.chosen = false;
  EXPECT_THAT(json_line(point), HasSubstr("\"chosen\":false"));
}

}  // namespace
}  // namespace chorus::bench
