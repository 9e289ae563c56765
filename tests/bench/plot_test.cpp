// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Point at(const std::string& algorithm, std::size_t bytes, double median) {
  Point point;
  point.collective = "allreduce";
  point.algorithm = algorithm;
  point.ranks = 2;
  point.bytes = bytes;
  point.us = {.p25 = median - 1, .median = median, .p75 = median + 1};
  return point;
}

TEST(PlotScript, HasALineForEachAlgorithmAndTheRanksInItsTitle) {
  const std::string script =
      plot_script(std::vector{at("ring", 4, 2), at("ring", 1024, 9), at("shared", 4, 3)}, "out.svg");
  EXPECT_THAT(script, HasSubstr("set output 'out.svg'"));
  EXPECT_THAT(script, HasSubstr("set title 'chorus allreduce, 2 ranks'"));
  EXPECT_THAT(script, HasSubstr("'100 ns' 0.1, '1 µs' 1, '10 µs' 10")) << "no long numbers";
  EXPECT_THAT(script, HasSubstr("$s0 << EOD\n4 2 1 3\n1024 9 8 10\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("$s1 << EOD\n4 3 2 4\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("title 'ring'"));
  EXPECT_THAT(script, HasSubstr("title 'shared'"));
  EXPECT_THAT(script, HasSubstr("\"1 KiB\" 1024"));
  EXPECT_THAT(script, Not(HasSubstr("'MPI'")));
}

TEST(PlotScript, HasTheNodesInItsTitleWhereThereAreSeveral) {
  Point point = at("ring", 4, 2);
  point.ranks = 8;
  point.nodes = 4;
  EXPECT_THAT(plot_script(std::vector{point}, "out.svg"),
              HasSubstr("set title 'chorus allreduce, 8 ranks on 4 nodes'"));
}

TEST(PlotScript, DrawsMpiOnceInAComparison) {
  std::vector<Point> points = {at("ring", 4, 2), at("line", 4, 3), at("line", 8, 3)};
  points[0].applies = false;
  for (Point& point : points) point.comparison = {.peer_us = {.p25 = 5, .median = 6, .p75 = 7}, .ratio = {}};
  const std::string script = plot_script(points, "out.svg");
  EXPECT_THAT(script, HasSubstr("title 'chorus line'"));
  EXPECT_THAT(script, Not(HasSubstr("title 'chorus ring'")));
  EXPECT_THAT(script, HasSubstr("$s1 << EOD\n4 6 5 7\n8 6 5 7\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("title 'MPI'"));
}

TEST(PlotScript, LeavesOutWhatALogarithmicAxisCannotShow) {
  EXPECT_THAT(plot_script(std::vector{at("ring", 0, 1), at("ring", 4, 2)}, "out.svg"), Not(HasSubstr("\n0 ")));
  EXPECT_EQ(plot_script(std::vector{at("ring", 0, 1)}, "out.svg"), "");
}

TEST(PlotScript, GivesASingleSizeRoom) {
  EXPECT_THAT(plot_script(std::vector{at("ring", 4, 1)}, "out.svg"), HasSubstr("set xrange [2:8]"));
  EXPECT_THAT(plot_script(std::vector{at("ring", 4, 1), at("ring", 1000, 1)}, "out.svg"),
              HasSubstr("set xrange [*:1002]"));
}

TEST(PlotScript, HasTheNoteBelowItsTitle) {
  EXPECT_THAT(plot_script(std::vector{at("ring", 4, 1)}, "out.svg", "it's 2 cores"),
              HasSubstr("set label 'it''s 2 cores' at graph 0.5,1.03 center"));
  EXPECT_THAT(plot_script(std::vector{at("ring", 4, 1)}, "out.svg"), Not(HasSubstr("set label")));
}

TEST(PlotScript, PutsTheKeyOfManyCurvesBesideThem) {
  std::vector<Point> points;
  for (const char* algorithm : {"a", "b", "c", "d"}) points.push_back(at(algorithm, 4, 1));
  EXPECT_THAT(plot_script(points, "out.svg"), Not(HasSubstr("set key outside")));
  points.push_back(at("e", 4, 1));
  EXPECT_THAT(plot_script(points, "out.svg"), HasSubstr("set key outside"));
}

TEST(PlotScript, QuotesTheFileName) {
  EXPECT_THAT(plot_script(std::vector{at("ring", 4, 1)}, "it's.svg"), HasSubstr("set output 'it''s.svg'"));
}

}  // namespace
}  // namespace chorus::bench
