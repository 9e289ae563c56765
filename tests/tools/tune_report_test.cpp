// SPDX-License-Identifier: Apache-2.0
#include "tune_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus::tune {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TuneReport, SaysWhereItWasMeasured) {
  const std::string text = heading({.site = {"MPI 1", "a processor", 16}, .nodes = 2, .ranks = 32, .crowded = false});
  EXPECT_THAT(text, HasSubstr("# Ranks: 32. Nodes: 2. MPI: MPI 1. Processor: a processor. Cores: 16.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Note")));
  EXPECT_THAT(heading({.site = {}, .crowded = true}), HasSubstr("# Note: more ranks than cores"));
}

TEST(TuneReport, ShowsEachLinkBesideWhatIsTakenWithoutAFile) {
  LinkModel measured;
  measured.node = {.latency_us = 0.75,
                   .megabytes_per_second = 2114,
                   .long_from = 4096,
                   .long_latency_us = 3.5,
                   .long_megabytes_per_second = 14333};
  std::string text = summary(measured, {});
  EXPECT_THAT(text, testing::ContainsRegex("messages inside a node +0.75 +2114 +2 +2500\n"
                                           "  of 4096 bytes and more +3.5 +14333 +2 +2500\n"));
  EXPECT_THAT(text, Not(HasSubstr("between nodes"))) << "nothing was measured there";
  measured.network.latency_us = 40;
  measured.further_message = 0.25;
  measured.to_next_gain = 2;
  EXPECT_THAT(summary(measured, {}), testing::ContainsRegex("one rank of each +40 +5000 +2 +5000\n"
                                                            "  to the next node alone +- +10000 +- +5000\n"
                                                            "  beside another one under way +10 +- +1.2 +-\n"));
  measured.network_by_all = {.latency_us = 80, .megabytes_per_second = 120};
  EXPECT_THAT(summary(measured, {}), testing::ContainsRegex("all ranks, together +80 +120 +2 +5000\n"));
}

TEST(TuneReport, ShowsWhatTheChoiceCostsWithTheFileAndWithout) {
  const bench::Regret best = {.collective = "bcast",
                              .bytes = 8192,
                              .chosen = "chain",
                              .best = "chain",
                              .chosen_us = {1, 2, 3},
                              .best_us = {1, 2, 3}};
  bench::Regret worse = best;
  worse.chosen = "native";
  worse.ratio = {5.4, 5, 6};
  const std::vector<Verdict> verdicts = {{.with_file = best, .without = worse}};
  EXPECT_THAT(verdict_line(verdicts[0]),
              testing::ContainsRegex("^bcast +8192  native +5.400  chain +1.000  chain +2.00\n"));
  const std::string text = verdict_summary(verdicts);
  EXPECT_THAT(text, HasSubstr("# Regret of the choice without the file: geometric mean 5.400"));
  EXPECT_THAT(text, HasSubstr("# Regret of the choice with it: geometric mean 1.000"));
}

Verdict verdict(double without, double with_file) {
  Verdict verdict;
  verdict.without.ratio = {without, without, without};
  verdict.with_file.ratio = {with_file, with_file, with_file};
  return verdict;
}

TEST(TuneReport, AdvisesTheFileButWhereItChoosesClearlyWorseThanNone) {
  const std::string use = "# To use it: export CHORUS_TUNING_FILE=a.json\n";
  EXPECT_EQ(advice("a.json", std::vector{verdict(2, 1)}), use);
  EXPECT_EQ(advice("a.json", std::vector{verdict(1.02, 1.04)}), use);
  EXPECT_EQ(advice("a.json", std::vector{verdict(1, 2), verdict(2, 1)}), use) << "alike on the whole";
  const std::string text = advice("a.json", std::vector{verdict(1, 1), verdict(1.03, 9)});
  EXPECT_THAT(text, HasSubstr("worse than no file"));
  EXPECT_THAT(text, Not(HasSubstr("To use it")));
}

}  // namespace
}  // namespace chorus::tune
