// SPDX-License-Identifier: Apache-2.0
#include "base/names.hpp"
#include "floor_formulas.hpp"
#include "floor_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus::bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr std::size_t bytes = 1200;

/// The lines, and the bytes that are read, copied and reduced, of 1200 bytes on `ranks` ranks.
void expect_need(Collective collective, int ranks, const Need& expected) {
  const Need need = need_of(collective, bytes, ranks);
  EXPECT_EQ(need.lines, expected.lines) << name(collective);
  EXPECT_DOUBLE_EQ(need.read, expected.read) << name(collective);
  EXPECT_DOUBLE_EQ(need.copied, expected.copied) << name(collective);
  EXPECT_DOUBLE_EQ(need.reduced, expected.reduced) << name(collective);
}

TEST(Need, IsOneLineForABarrier) { expect_need(Collective::barrier, 4, {.lines = 1}); }

TEST(Need, OfReceiversIsTheirBlock) {
  for (const auto collective : {Collective::bcast, Collective::scatter, Collective::scatterv}) {
    expect_need(collective, 4, {.lines = 1, .read = 1200});
  }
}

TEST(Need, OfGatherersIsEveryBlock) {
  for (const auto collective : {Collective::gather, Collective::gatherv, Collective::allgather, Collective::allgatherv,
                                Collective::alltoall, Collective::alltoallv, Collective::alltoallw}) {
    expect_need(collective, 4, {.lines = 1, .read = 3600, .copied = 1200});
  }
}

TEST(Need, OfReductionsIsSharedAmongTheRanksThatHaveTheResult) {
  expect_need(Collective::reduce, 4, {.lines = 1, .read = 1200, .reduced = 1200});
  expect_need(Collective::scan, 4, {.lines = 1, .read = 1200, .reduced = 1200});
  expect_need(Collective::reduce_scatter, 4, {.lines = 1, .read = 900, .reduced = 900});
  expect_need(Collective::reduce_scatter_block, 4, {.lines = 1, .read = 900, .reduced = 900});
  expect_need(Collective::allreduce, 4, {.lines = 1, .read = 1800, .reduced = 900});
  expect_need(Collective::allreduce, 2, {.lines = 1, .read = 1200, .reduced = 600});
}

TEST(Need, OfAnExscanHasNothingToReduceOnTwoRanks) {
  expect_need(Collective::exscan, 2, {.lines = 1, .read = 1200});
  expect_need(Collective::exscan, 3, {.lines = 1, .read = 1200, .reduced = 1200});
}

TEST(Need, OfNoDataIsNothingButForABarrier) {
  EXPECT_EQ(need_of(Collective::allreduce, 0, 2).lines, 0);
  EXPECT_EQ(need_of(Collective::barrier, 0, 2).lines, 1);
}

// Bytes a microsecond: 100 copied, 20 read (streamed), 200 reduced.
constexpr NodeSpeed speed = {.line_us = 0.25,
                             .copy = 100,
                             .cached = {.write = 5, .read = 10},
                             .streamed = {.write = 50, .read = 20},
                             .reduce = 200};

TEST(Floor, IsTheLongestOfLinesBytesAndReduction) {
  const Floor line = floor_of({.lines = 1, .read = 4}, speed);
  EXPECT_DOUBLE_EQ(line.us, 0.25);
  EXPECT_EQ(line.bound, "line");
  const Floor moved = floor_of({.lines = 1, .read = 1000, .copied = 500, .reduced = 1000}, speed);
  EXPECT_DOUBLE_EQ(moved.us, 1000 / 20.0 + 500 / 100.0);
  EXPECT_EQ(moved.bound, "bytes");
  const Floor reduced = floor_of({.lines = 1, .read = 10, .reduced = 1000}, speed);
  EXPECT_DOUBLE_EQ(reduced.us, 5);
  EXPECT_EQ(reduced.bound, "reduction");
}

Point measured(double median_us, double floor_us) {
  Point point;
  point.algorithm = "shared";
  point.bytes = 64;
  point.us.median = median_us;
  point.floor_us = floor_us;
  return point;
}

TEST(FloorTable, HasTheFloorAndItsShareOfTheTime) {
  const TableForm form = {.title = "Scan", .algorithm = "auto", .ranks = 2};
  EXPECT_THAT(floor_heading(form), HasSubstr("\n# chorus Scan Floor Test v"));
  EXPECT_THAT(floor_heading(form), EndsWith("\n# Size      Algorithm                Chorus Median(us)   Floor(us)"
                                            "       Bound   Floor/Median(%)\n"));
  EXPECT_EQ(floor_line(form, measured(2, 0.5), "line"),
            "64          shared                               2.000       0.500        line              25.0\n");
  EXPECT_THAT(json_line(measured(2, 0.5)), HasSubstr("\"floor_us\":0.5"));
}

TEST(FloorSummary, IsTheGeometricMeanOfTheSharesAboveZero) {
  EXPECT_EQ(floor_summary("scan", std::vector{measured(2, 1), measured(8, 1), measured(1, 0)}),
            "# Geometric mean of floor/median of scan: 25.0 %\n");
  EXPECT_EQ(floor_summary("scan", std::vector{measured(1, 0)}), "");
}

TEST(SpeedTable, HasEveryNumberOfTheNode) {
  EXPECT_THAT(speed_heading(2, true), HasSubstr("\n# Ranks: 2.\n# Note: more ranks"));
  EXPECT_EQ(speed_line(64, speed),
            "64                 0.250         100             5            10              50              20"
            "         200\n");
}

}  // namespace
}  // namespace chorus::bench
