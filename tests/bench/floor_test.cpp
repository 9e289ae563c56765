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

void expect_need(Collective collective, const Need& need, const Need& expected) {
  EXPECT_EQ(need.lines, expected.lines) << name(collective);
  EXPECT_DOUBLE_EQ(need.read, expected.read) << name(collective);
  EXPECT_DOUBLE_EQ(need.written, expected.written) << name(collective);
  EXPECT_DOUBLE_EQ(need.copied, expected.copied) << name(collective);
  EXPECT_DOUBLE_EQ(need.reduced, expected.reduced) << name(collective);
}

/// The lines, and the bytes that are read, written, copied and reduced, of 1200 bytes on `ranks` ranks.
void expect_needs(Collective collective, int ranks, const Need& root, const Need& other) {
  const Needs needs = needs_of(collective, bytes, ranks);
  expect_need(collective, needs.root, root);
  expect_need(collective, needs.other, other);
}
void expect_needs(Collective collective, int ranks, const Need& each) { expect_needs(collective, ranks, each, each); }

TEST(Needs, AreOneLineForABarrier) { expect_needs(Collective::barrier, 4, {.lines = 1}); }

TEST(Needs, OfARootThatSendsAreWhatItWrites) {
  expect_needs(Collective::bcast, 4, {.lines = 1, .written = 1200}, {.lines = 1, .read = 1200});
  for (const auto collective : {Collective::scatter, Collective::scatterv})
    expect_needs(collective, 4, {.lines = 1, .written = 3600, .copied = 1200}, {.lines = 1, .read = 1200});
}

TEST(Needs, OfThoseWhoGatherAreEveryBlock) {
  for (const auto collective : {Collective::gather, Collective::gatherv})
    expect_needs(collective, 4, {.lines = 1, .read = 3600, .copied = 1200}, {.lines = 1, .written = 1200});
  for (const auto collective : {Collective::allgather, Collective::allgatherv})
    expect_needs(collective, 4, {.lines = 1, .read = 3600, .written = 1200, .copied = 1200});
  for (const auto collective : {Collective::alltoall, Collective::alltoallv, Collective::alltoallw})
    expect_needs(collective, 4, {.lines = 1, .read = 3600, .written = 3600, .copied = 1200});
}

TEST(Needs, OfReductionsAreSharedAmongTheRanksThatHaveTheResult) {
  expect_needs(Collective::reduce, 4, {.lines = 1, .read = 1200, .reduced = 1200}, {.lines = 1, .written = 1200});
  expect_needs(Collective::scan, 4, {.lines = 1, .read = 1200, .reduced = 1200},
               {.lines = 1, .written = 1200, .copied = 1200});
  for (const auto collective : {Collective::reduce_scatter, Collective::reduce_scatter_block})
    expect_needs(collective, 4, {.lines = 1, .read = 900, .written = 900, .reduced = 900});
  expect_needs(Collective::allreduce, 4, {.lines = 1, .read = 1800, .written = 1200, .reduced = 900});
  expect_needs(Collective::allreduce, 2, {.lines = 1, .read = 1200, .written = 1200, .reduced = 600});
}

TEST(Needs, OfAnExscanHaveNothingToReduceOnTwoRanks) {
  const Need first = {.lines = 1, .written = 1200};
  expect_needs(Collective::exscan, 2, {.lines = 1, .read = 1200}, first);
  expect_needs(Collective::exscan, 3, {.lines = 1, .read = 1200, .reduced = 1200}, first);
}

TEST(Needs, OfNoDataAreNothingButForABarrier) {
  EXPECT_EQ(needs_of(Collective::allreduce, 0, 2).root.lines, 0);
  EXPECT_EQ(needs_of(Collective::barrier, 0, 2).root.lines, 1);
}

// Bytes a microsecond: 100 copied, 20 read (streamed), 200 reduced.
constexpr NodeSpeed speed = {.line_us = 0.25,
                             .copy = 100,
                             .cached = {.write = 5, .read = 10},
                             .streamed = {.write = 50, .read = 20},
                             .reduce = 200};

Floor floor_of_each(const Need& need) { return floor_of({need, need}, speed, Memory::registered); }

TEST(Floor, IsTheLongestOfLinesBytesAndReduction) {
  const Floor line = floor_of_each({.lines = 1, .read = 4});
  EXPECT_DOUBLE_EQ(line.us, 0.25);
  EXPECT_EQ(line.bound, "line");
  const Floor moved = floor_of_each({.lines = 1, .read = 1000, .written = 1000, .copied = 500, .reduced = 1000});
  EXPECT_DOUBLE_EQ(moved.us, 1000 / 20.0 + 500 / 100.0);
  EXPECT_EQ(moved.bound, "bytes");
  const Floor reduced = floor_of_each({.lines = 1, .read = 10, .reduced = 1000});
  EXPECT_DOUBLE_EQ(reduced.us, 5);
  EXPECT_EQ(reduced.bound, "reduction");
}

TEST(Floor, IsThatOfTheRankWithMostToDo) {
  const Needs needs = {{.written = 1000}, {.read = 1000}};
  EXPECT_DOUBLE_EQ(floor_of(needs, speed, Memory::host).us, 1000 / 20.0);
  EXPECT_DOUBLE_EQ(floor_of({needs.other, needs.root}, speed, Memory::host).us, 1000 / 20.0);
}

TEST(Floor, OfOrdinaryMemoryIsByTheFastestWay) {
  const Need need = {.read = 1000, .written = 1000, .copied = 500};
  NodeSpeed node = speed;
  EXPECT_DOUBLE_EQ(floor_of({need, need}, node, Memory::host).us, 1000 / 20.0 + 1000 / 50.0 + 500 / 100.0);
  node.cached = {.write = 100, .read = 50};
  EXPECT_DOUBLE_EQ(floor_of({need, need}, node, Memory::host).us, 1000 / 50.0 + 1000 / 100.0 + 500 / 100.0);
  node.system_read = 40;
  EXPECT_DOUBLE_EQ(floor_of({need, need}, node, Memory::host).us, 1000 / 40.0 + 500 / 100.0);
  node.system_read = 10;
  EXPECT_DOUBLE_EQ(floor_of({need, need}, node, Memory::host).us, 1000 / 50.0 + 1000 / 100.0 + 500 / 100.0);
  EXPECT_DOUBLE_EQ(floor_of({need, need}, node, Memory::registered).us, 1000 / 50.0 + 500 / 100.0);
}

TEST(Floor, OfReducingWhatTheSystemHasCopiedIsTheSumOfBoth) {
  const Need need = {.read = 1000, .written = 1000, .reduced = 1000};
  NodeSpeed node = speed;
  node.system_read = 40;
  const Floor copied = floor_of({need, need}, node, Memory::host);
  EXPECT_DOUBLE_EQ(copied.us, 1000 / 40.0 + 1000 / 200.0);
  EXPECT_EQ(copied.bound, "system");
  node.system_read = 15;
  const Floor stored = floor_of({need, need}, node, Memory::host);
  EXPECT_DOUBLE_EQ(stored.us, 1000 / 20.0 + 1000 / 50.0);
  EXPECT_EQ(stored.bound, "bytes");
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
            "             0         200\n");
}

}  // namespace
}  // namespace chorus::bench
