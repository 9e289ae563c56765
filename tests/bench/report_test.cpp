// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace chorus::bench {
namespace {

Point a_point() {
  Point point;
  point.collective = "allreduce";
  point.algorithm = "ring";
  point.ranks = 4;
  point.nodes = 2;
  point.ranks_per_node = 3;
  point.bytes = 1024;
  point.valid = true;
  point.osu = {.avg_us = 12.345, .min_us = 1.5, .max_us = 1000.25, .iterations = 10000};
  point.us = {.p25 = 0.9, .median = 1.0625, .p75 = 1.25};
  point.iterations = 50;
  point.calls_per_iteration = 16;
  point.busbw_mb_s = 1445.5;
  return point;
}

Point compared() {
  Point point = a_point();
  point.comparison = {.peer_us = {.p25 = 2, .median = 2.125, .p75 = 2.5},
                      .ratio = {.value = 0.5, .low = 0.45, .high = 0.55}};
  return point;
}

// A heading without the line that holds the version.
std::string without_title(const std::string& heading) { return heading.substr(heading.find('\n', 1) + 1); }

TEST(Text, IsTheOsuFormat) {
  const TableForm form = {.title = "Allreduce", .algorithm = "auto", .ranks = 4};
  EXPECT_EQ(heading(form).find("\n# chorus Allreduce Latency Test v"), 0U);
  EXPECT_EQ(without_title(heading(form)),
            "# Datatype: MPI_FLOAT.\n"
            "# Ranks: 4. Algorithm: auto.\n"
            "# Size       Avg Latency(us)\n");
  EXPECT_EQ(line(form, a_point()), "1024                   12.35\n");
}

TEST(Text, HasTheFullAndTheValidationColumnsOfTheOsuFormatThenThePercentiles) {
  const TableForm form = {.title = "Reduce", .algorithm = "auto", .ranks = 4, .full = true, .check = true};
  EXPECT_EQ(without_title(heading(form)),
            "# Datatype: MPI_FLOAT.\n"
            "# Ranks: 4. Algorithm: auto.\n"
            "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation"
            "   P25 Latency(us)   P50 Latency(us)   P75 Latency(us)\n");
  EXPECT_EQ(line(form, a_point()),
            "1024                   12.35              1.50           1000.25       10000              Pass"
            "             0.900             1.062             1.250\n");
  Point wrong = a_point();
  wrong.valid = false;
  EXPECT_NE(line(form, wrong).find("  Fail"), std::string::npos);
}

TEST(Text, OfABarrierHasNoSizeAndNoDatatype) {
  const TableForm form = {.title = "Barrier", .algorithm = "auto", .ranks = 4, .has_size = false};
  EXPECT_EQ(without_title(heading(form)),
            "# Ranks: 4. Algorithm: auto.\n"
            "# Avg Latency(us)\n");
  EXPECT_EQ(line(form, a_point()), "            12.35\n");
}

TEST(Text, SaysThatRanksShareProcessors) {
  const TableForm form = {.title = "Reduce", .algorithm = "auto", .crowded = true};
  EXPECT_NE(heading(form).find("\n# Note: more ranks than processors"), std::string::npos);
}

TEST(Text, SaysWhereAnAlgorithmDoesNotApply) {
  Point point = a_point();
  point.applies = false;
  EXPECT_EQ(line({.title = "Reduce", .algorithm = "line", .full = true}, point), "1024                     n/a\n");
}

TEST(Text, OfAComparisonHasTheRatioAndItsInterval) {
  const TableForm form = {.title = "Allreduce", .algorithm = "ring", .ranks = 4, .compare = true};
  EXPECT_EQ(without_title(heading(form)),
            "# Datatype: MPI_FLOAT.\n"
            "# Ranks: 4. Algorithm: ring.\n"
            "# Ratio: chorus/MPI, medians, with a 95 % interval; below 1 chorus is faster.\n"
            "# Size     Chorus Median(us)    MPI Median(us)       Ratio   Ratio Low  Ratio High\n");
  EXPECT_EQ(line(form, compared()),
            "1024                   1.062             2.125       0.500       0.450       0.550\n");
}

Point beside_nccl() {
  Point point = compared();
  point.device = "GPU X";
  point.comparison->peer = Peer::nccl;
  return point;
}

TEST(Text, OfADeviceHasTheBusBandwidthAndNamesIt) {
  const TableForm form = {.title = "Reduce", .algorithm = "staged", .ranks = 4, .device = "GPU X"};
  EXPECT_EQ(without_title(heading(form)),
            "# Datatype: MPI_FLOAT.\n"
            "# Ranks: 4. Algorithm: staged.\n"
            "# Memory: device (GPU X).\n"
            "# Size       Avg Latency(us)  Bus BW(GB/s)\n");
  EXPECT_EQ(line(form, a_point()), "1024                   12.35          1.45\n");
}

TEST(Text, OfAComparisonWithNcclNamesIt) {
  const TableForm form = {.title = "Allreduce",
                          .algorithm = "nccl",
                          .ranks = 4,
                          .full = true,
                          .compare = true,
                          .peer = Peer::nccl,
                          .device = "GPU X"};
  const std::string text = heading(form);
  EXPECT_NE(text.find("\n# Ratio: chorus/NCCL, medians"), std::string::npos);
  EXPECT_NE(text.find("   NCCL Median(us)  "), std::string::npos);
  EXPECT_NE(text.find("     NCCL P25(us)      NCCL P75(us)\n"), std::string::npos);
  EXPECT_EQ(text.find("MPI Median"), std::string::npos);
  EXPECT_EQ(summary(std::vector{beside_nccl()}), "# Geometric mean of the ratios (chorus/NCCL): 0.500\n");
}

TEST(Summary, IsTheGeometricMeanOfWhatWasCompared) {
  Point slower = compared();
  slower.comparison->ratio.value = 2;
  Point missing = a_point();
  missing.applies = false;
  EXPECT_EQ(summary(std::vector{compared(), slower, missing}), "# Geometric mean of the ratios (chorus/MPI): 1.000\n");
  EXPECT_EQ(summary(std::vector{a_point()}), "");
}

TEST(Json, IsOneObjectOnALine) {
  const std::string text = json_line(compared());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const nlohmann::json object = nlohmann::json::parse(text);
  const nlohmann::json expected = {{"collective", "allreduce"},
                                   {"algorithm", "ring"},
                                   {"ranks", 4},
                                   {"nodes", 2},
                                   {"ranks_per_node", 3},
                                   {"bytes", 1024},
                                   {"median_us", 1.0625},
                                   {"p25_us", 0.9},
                                   {"p75_us", 1.25},
                                   {"iterations", 50},
                                   {"calls_per_iteration", 16},
                                   {"busbw_mb_s", 1445.5},
                                   {"valid", true},
                                   {"native_median_us", 2.125},
                                   {"ratio", 0.5},
                                   {"ratio_low", 0.45},
                                   {"ratio_high", 0.55}};
  EXPECT_EQ(object, expected);
  EXPECT_FALSE(nlohmann::json::parse(json_line(a_point())).contains("ratio"));
  EXPECT_FALSE(nlohmann::json::parse(json_line(a_point())).contains("note"));
  EXPECT_EQ(nlohmann::json::parse(json_line(a_point(), "2 cores")).at("note"), "2 cores");
}

TEST(Json, OfMemoryOfADeviceSaysSo) {
  const nlohmann::json object = nlohmann::json::parse(json_line(beside_nccl()));
  EXPECT_EQ(object.at("memory"), "device");
  EXPECT_EQ(object.at("device"), "GPU X");
  EXPECT_EQ(object.at("nccl_median_us"), 2.125);
  EXPECT_EQ(object.at("ratio"), 0.5);
  EXPECT_FALSE(object.contains("native_median_us"));
  EXPECT_FALSE(nlohmann::json::parse(json_line(a_point())).contains("memory"));
}

}  // namespace
}  // namespace chorus::bench
