// SPDX-License-Identifier: Apache-2.0
#include "tuning.hpp"

#include <chorus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace chorus {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* prefix = "the tuning file is not used: ";

/// What is wrong with a tuning file; empty if nothing is.
std::string rejection(const std::string& text) {
  try {
    static_cast<void>(Tuning::parse(text));
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_environment);
    EXPECT_TRUE(error.message().starts_with(prefix)) << error.message();
    return error.message().substr(std::string(prefix).size());
  }
}

std::string of_links(const std::string& links) { return R"({"schema": 1, "links": )" + links + "}"; }
std::string of_measured(const std::string& row) { return R"({"schema": 1, "measured": [)" + row + "]}"; }

constexpr const char* row =
    R"({"collective": "bcast", "algorithm": "line", "ranks": 2, "bytes": 8, "median_us": 0.5, "p25_us": 0.4})";

TEST(Tuning, OfNoFileIsTheBuiltIn) {
  const Tuning tuning = Tuning::parse("");
  EXPECT_EQ(tuning.links.network.latency_us, LinkModel().network.latency_us);
  EXPECT_TRUE(tuning.measured.empty());
  EXPECT_TRUE(Tuning::parse(R"({"schema": 1})").measured.empty());
}

TEST(Tuning, ReadsEveryNumber) {
  const Tuning tuning = Tuning::parse(of_links(R"({
    "shared": {"latency_us": 1, "megabytes_per_second": 2},
    "node": {"latency_us": 3, "megabytes_per_second": 4},
    "network": {"latency_us": 5.5, "megabytes_per_second": 6e3},
    "shared_peer_us": 7, "task_us": 8, "reduce_megabytes_per_second": 9, "further_message": 0.5})"));
  EXPECT_EQ(tuning.links.shared.latency_us, 1);
  EXPECT_EQ(tuning.links.shared.megabytes_per_second, 2);
  EXPECT_EQ(tuning.links.node.latency_us, 3);
  EXPECT_EQ(tuning.links.node.megabytes_per_second, 4);
  EXPECT_EQ(tuning.links.network.latency_us, 5.5);
  EXPECT_EQ(tuning.links.network.megabytes_per_second, 6000);
  EXPECT_EQ(tuning.links.shared_peer_us, 7);
  EXPECT_EQ(tuning.links.task_us, 8);
  EXPECT_EQ(tuning.links.reduce_megabytes_per_second, 9);
  EXPECT_EQ(tuning.links.further_message, 0.5);
}

TEST(Tuning, KeepsTheBuiltInOfWhatIsLeftOut) {
  const Tuning tuning = Tuning::parse(of_links(R"({"task_us": 3})"));
  EXPECT_EQ(tuning.links.task_us, 3);
  EXPECT_EQ(tuning.links.node.megabytes_per_second, LinkModel().node.megabytes_per_second);
}

TEST(Tuning, ReadsLinesOfTheBenchmark) {
  const Tuning tuning = Tuning::parse(of_measured(row));
  ASSERT_EQ(tuning.measured.size(), 1U);
  EXPECT_EQ(tuning.measured[0].collective, Collective::bcast);
  EXPECT_EQ(tuning.measured[0].algorithm, "line");
  EXPECT_EQ(tuning.measured[0].ranks, 2);
  EXPECT_EQ(tuning.measured[0].bytes, 8U);
  EXPECT_EQ(tuning.measured[0].median_us, 0.5);
}

TEST(Tuning, ReadsALineOfWhatTheLibraryChose) {
  EXPECT_EQ(
      rejection(of_measured(R"({"collective": "bcast", "algorithm": "auto", "ranks": 2, "bytes": 0, "median_us": 1})")),
      "");
}

TEST(Tuning, NamesLineAndColumnOfWhatIsNoJson) {
  EXPECT_THAT(rejection("{\n  \"schema\": 1,\n  links\n}"), HasSubstr("parse error at line 3, column 3"));
  EXPECT_THAT(rejection("{"), HasSubstr("parse error at line 1, column 2"));
  EXPECT_THAT(rejection("{} {}"), HasSubstr("parse error at line 1, column 4"));
  EXPECT_THAT(rejection("\"\xFF\""), HasSubstr("ill-formed UTF-8"));
  EXPECT_THAT(rejection(of_links(R"({"task_us": 1e999})")), HasSubstr("1e999"));
}

TEST(Tuning, RejectsWhatIsNoTuningFile) {
  EXPECT_EQ(rejection("[]"), "the file must be an object");
  EXPECT_EQ(rejection("null"), "the file must be an object");
  EXPECT_EQ(rejection("{}"), "\"schema\" is missing in the file");
  EXPECT_EQ(rejection(R"({"schema": 2})"), "\"schema\" must be 1");
  EXPECT_EQ(rejection(R"({"schema": "1"})"), "\"schema\" must be 1");
  EXPECT_EQ(rejection(R"({"schema": true})"), "\"schema\" must be 1");
  EXPECT_EQ(rejection(R"({"schema": 1, "measured": {}})"), "\"measured\" must be an array");
  EXPECT_EQ(rejection(R"({"schema": 1, "measured": null})"), "\"measured\" must be an array");
  EXPECT_EQ(rejection(R"({"schema": 1, "links": 5})"), "\"links\" must be an object");
}

TEST(Tuning, NamesTheNearestOfAnUnknownName) {
  EXPECT_THAT(rejection(R"({"schema": 1, "measurd": []})"),
              StartsWith("unknown name \"measurd\" in the file; did you mean \"measured\"? There are "));
  EXPECT_THAT(rejection(of_links(R"({"taskus": 1})")),
              StartsWith("unknown name \"taskus\" in \"links\"; did you mean \"task_us\"? There are "));
  EXPECT_THAT(rejection(of_links(R"({"node": {"latency": 1, "megabytes_per_second": 1}})")),
              StartsWith("unknown name \"latency\" in node; did you mean \"latency_us\"? There are "));
  EXPECT_THAT(rejection(of_measured(R"({"collective": "bacst"})")),
              StartsWith("unknown collective \"bacst\" in \"measured\"[0]; did you mean \"bcast\"? There are "));
  EXPECT_THAT(
      rejection(of_measured(R"({"collective": "allreduce", "algorithm": "rnig"})")),
      StartsWith("unknown algorithm \"rnig\" of allreduce in \"measured\"[0]; did you mean \"ring\"? There are "));
}

TEST(Tuning, RejectsLinksThatAreNone) {
  EXPECT_EQ(rejection(of_links(R"({"node": 3})")), "node must be an object");
  EXPECT_EQ(rejection(of_links(R"({"node": {"latency_us": 1}})")), "\"megabytes_per_second\" is missing in node");
  for (const std::string value : {"0", "-1", "-0.0", "\"1\"", "null", "[1]", "false"}) {
    EXPECT_EQ(rejection(of_links(R"({"task_us": )" + value + "}")),
              "\"task_us\" in \"links\" must be a number above 0");
    EXPECT_EQ(rejection(of_links(R"({"node": {"latency_us": 1, "megabytes_per_second": )" + value + "}}")),
              "\"megabytes_per_second\" in node must be a number above 0");
  }
}

TEST(Tuning, RejectsMeasurementsThatAreNone) {
  const auto with = [](const std::string& rest) {
    return of_measured(std::string(row) + R"(, {"collective": "bcast")" + rest + "}");
  };
  EXPECT_EQ(rejection(of_measured("7")), "\"measured\"[0] must be an object");
  EXPECT_EQ(rejection(of_measured("{}")), "\"collective\" is missing in \"measured\"[0]");
  EXPECT_EQ(rejection(of_measured(R"({"collective": 7})")), "\"collective\" in \"measured\"[0] must be a text");
  EXPECT_EQ(rejection(with("")), "\"algorithm\" is missing in \"measured\"[1]");
  EXPECT_EQ(rejection(with(R"(, "algorithm": "line")")), "\"ranks\" is missing in \"measured\"[1]");
  for (const std::string ranks : {"0", "-2", "2.5", "\"2\"", "null"}) {
    EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": )" + ranks)),
              "\"ranks\" in \"measured\"[1] must be a whole number, 1 or more");
  }
  EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": 2)")), "\"bytes\" is missing in \"measured\"[1]");
  for (const std::string bytes : {"-8", "8.5", "\"8\"", "1e30"}) {
    EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": 2, "bytes": )" + bytes)),
              "\"bytes\" in \"measured\"[1] must be a whole number, 0 or more");
  }
  EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": 2, "bytes": 8)")),
            "\"median_us\" is missing in \"measured\"[1]");
  EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": 2, "bytes": 8, "median_us": 0)")),
            "\"median_us\" in \"measured\"[1] must be a number above 0");
}

TEST(TunedTime, IsThatOfTheNearestSizeWithinAFactorOfTwo) {
  Tuning tuning;
  tuning.measured = {{Collective::allreduce, "ring", 4, 1024, 10},
                     {Collective::allreduce, "ring", 4, 4096, 30},
                     {Collective::allreduce, "line", 4, 2048, 7}};
  const auto time = [&](std::size_t count, int ranks = 4, std::string_view algorithm = "ring") {
    return tuning.microseconds(
        {.call = {Collective::allreduce, DataType::uint8, ReduceOp::sum, 0, count}, .ranks = ranks}, algorithm);
  };
  EXPECT_EQ(time(1024), 10);
  EXPECT_EQ(time(1500), 10);
  EXPECT_EQ(time(3000), 30);
  EXPECT_EQ(time(8000), 30);
  EXPECT_EQ(time(500), std::nullopt);
  EXPECT_EQ(time(10'000), std::nullopt);
  EXPECT_EQ(time(1024, 3), std::nullopt);
  EXPECT_EQ(time(1024, 4, "native"), std::nullopt);
  EXPECT_EQ(time(2048, 4, "line"), 7);
}

TEST(TunedTime, CountsTheBytesAsTheBenchmarkDoes) {
  Tuning tuning;
  tuning.measured = {{Collective::reduce_scatter_block, "ring", 8, 4096, 10}};
  const Call call{Collective::reduce_scatter_block, DataType::float64, ReduceOp::sum, 0, 64};
  EXPECT_EQ(tuning.microseconds({.call = call, .ranks = 8}, "ring"), 10);
}

}  // namespace
}  // namespace chorus
