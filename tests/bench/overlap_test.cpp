// SPDX-License-Identifier: Apache-2.0
#include "computation.hpp"
#include "nonblocking_table.hpp"
#include "overlap_figures.hpp"
#include "overlap_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace chorus::bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(OverlapPercent, IsAllWhereTheCallTakesNoTimeBesideTheComputation) {
  EXPECT_DOUBLE_EQ(overlap_percent(100, 100, 80), 100);
}

TEST(OverlapPercent, IsNothingWhereTheCallTakesItsWholeTimeAfterTheComputation) {
  EXPECT_DOUBLE_EQ(overlap_percent(180, 100, 80), 0);
}

TEST(OverlapPercent, IsThePartOfTheCallThatIsSaved) {
  EXPECT_DOUBLE_EQ(overlap_percent(120, 100, 80), 75);
  EXPECT_DOUBLE_EQ(overlap_percent(160, 100, 80), 25);
}

TEST(OverlapPercent, StaysBetweenNothingAndAll) {
  EXPECT_DOUBLE_EQ(overlap_percent(250, 100, 80), 0) << "the two disturb each other";
  EXPECT_DOUBLE_EQ(overlap_percent(99, 100, 80), 100) << "the computation was faster by chance";
}

TEST(OverlapEstimate, IsOfMediansWithAnInterval) {
  const std::vector<double> alone(9, 100.0), call(9, 80.0);
  const std::vector<double> total = {120, 120, 120, 120, 120, 120, 120, 120, 900};
  const Estimate hidden = estimate_overlap(total, alone, call);
  EXPECT_DOUBLE_EQ(hidden.value, 75);
  EXPECT_DOUBLE_EQ(hidden.low, 75);
  EXPECT_DOUBLE_EQ(hidden.high, 75);
}

TEST(OverlapEstimate, KeepsRepetitionsTogether) {
  // A processor that halves its pace doubles all three times: the overlap stays.
  std::vector<double> total, alone, call;
  for (int repetition = 0; repetition < 40; ++repetition) {
    const double pace = repetition % 2 + 1;
    total.push_back(120 * pace);
    alone.push_back(100 * pace);
    call.push_back(80 * pace);
  }
  const Estimate hidden = estimate_overlap(total, alone, call);
  EXPECT_DOUBLE_EQ(hidden.low, 75);
  EXPECT_DOUBLE_EQ(hidden.high, 75);
}

TEST(AComputation, IsInterruptedBetweenItsParts) {
  for (const Compute kind : {Compute::busy, Compute::sleep}) {
    const Computation computation(kind, 5);
    int interruptions = 0;
    computation.run(4, [&] { ++interruptions; });
    EXPECT_EQ(interruptions, 3);
    computation.run(1, nullptr);
  }
}

TEST(NonblockingTable, HasEveryCollective) {
  for (const Row& row : table()) {
    const NonblockingRow& nonblocking = nonblocking_row(row.name);
    EXPECT_EQ(nonblocking.name, row.name);
    EXPECT_TRUE(nonblocking.start != nullptr && nonblocking.prepare != nullptr && nonblocking.native != nullptr);
  }
}

Point measured() {
  Point point;
  point.bytes = 1024;
  point.us.median = 10;
  Overlap overlap;
  overlap.nonblocking_us.median = 11;
  overlap.nonblocking_ratio = {1.1, 1.0, 1.2};
  overlap.persistent_us.median = 9;
  overlap.persistent_ratio = {0.9, 0.8, 1.0};
  overlap.hidden = {.compute_us = 11.5, .untested = {95, 90, 97.5}, .tested = {60, 50, 70}};
  point.overlap = overlap;
  return point;
}

OverlapForm plain_form() {
  return {.table = {.title = "Allreduce", .algorithm = "auto", .ranks = 2},
          .company = {.ranks = 2, .processors = 4},
          .tests = 10};
}

TEST(OverlapTable, HasTheFormsAndWhatIsHidden) {
  EXPECT_THAT(overlap_heading(plain_form()), HasSubstr("\n# chorus Allreduce Overlap Test v"));
  EXPECT_THAT(overlap_heading(plain_form()),
              EndsWith("\n# Size        Blocking(us)  Nonblocking(us)    Ratio  Persistent(us)    Ratio  Compute(us)"
                       "  Overlap(%)  Tested(%)\n"));
  EXPECT_EQ(overlap_line(plain_form(), measured()),
            "1024                10.000           11.000    1.100           9.000    0.900       11.500"
            "        95.0       60.0\n");
}

TEST(OverlapTable, HasIntervalsOnlyInFull) {
  OverlapForm form = plain_form();
  EXPECT_THAT(overlap_line(form, measured()), Not(HasSubstr("97.5")));
  form.table.full = true;
  EXPECT_THAT(overlap_heading(form), HasSubstr("Overlap(%)      Low     High"));
  EXPECT_THAT(overlap_line(form, measured()), HasSubstr("        95.0     90.0     97.5"));
}

TEST(OverlapTable, HasMpisOwnCallWhereItIsCompared) {
  OverlapForm form = plain_form();
  form.table.compare = true;
  Point point = measured();
  NativeOverlap native;
  native.nonblocking_us.median = 12.25;
  native.hidden.untested.value = 33;
  point.overlap->native = native;
  EXPECT_THAT(overlap_heading(form), EndsWith("  MPI Nonblocking(us)  MPI Overlap(%)  MPI Tested(%)\n"));
  EXPECT_THAT(overlap_line(form, point), EndsWith("               12.250            33.0            0.0\n"));
}

TEST(OverlapTable, OfABarrierHasNoSize) {
  OverlapForm form = plain_form();
  form.table.has_size = false;
  EXPECT_THAT(overlap_heading(form), Not(HasSubstr("# Size")));
  EXPECT_THAT(overlap_line(form, measured()), testing::StartsWith("            "));
}

TEST(OverlapTable, SaysWhatTheProgressThreadHas) {
  OverlapForm form = plain_form();
  EXPECT_THAT(overlap_heading(form), HasSubstr("# Progress thread: off: calls advance inside chorus only"));
  EXPECT_THAT(overlap_heading(form), HasSubstr("# Processors: 4 for 2 ranks on the fullest node.\n"));
  EXPECT_THAT(overlap_heading(form), HasSubstr("# Compute: busy, "));
  form.company.progress_thread = ProgressThread::on;
  form.compute = Compute::sleep;
  EXPECT_THAT(overlap_heading(form), HasSubstr("# Progress thread: on.\n"));
  EXPECT_THAT(overlap_heading(form),
              HasSubstr("# Processors: 4 for 2 ranks and 2 progress threads on the fullest node.\n"));
  EXPECT_THAT(overlap_heading(form), HasSubstr("# Compute: sleeping (the processor is free), "));
  form.company.processors = 3;
  EXPECT_THAT(overlap_heading(form), HasSubstr("on the fullest node: threads and computations share them.\n"));
  form.company.progress_thread = ProgressThread::impossible;
  EXPECT_THAT(overlap_heading(form), HasSubstr("# Progress thread: off, as MPI runs without MPI_THREAD_MULTIPLE"));
}

TEST(Json, SaysOfOverlapWhatEachFormTakesAndHides) {
  EXPECT_THAT(json_line(Point()), Not(HasSubstr("overlap")));
  const auto line = nlohmann::json::parse(json_line(measured()));
  EXPECT_EQ(line.at("nonblocking_median_us"), 11.0);
  EXPECT_EQ(line.at("nonblocking_ratio_high"), 1.2);
  EXPECT_EQ(line.at("persistent_median_us"), 9.0);
  EXPECT_EQ(line.at("persistent_ratio"), 0.9);
  EXPECT_EQ(line.at("compute_us"), 11.5);
  EXPECT_EQ(line.at("overlap_percent"), 95.0);
  EXPECT_EQ(line.at("overlap_percent_low"), 90.0);
  EXPECT_EQ(line.at("tested_overlap_percent"), 60.0);
  EXPECT_FALSE(line.contains("native_overlap_percent"));
}

}  // namespace
}  // namespace chorus::bench
