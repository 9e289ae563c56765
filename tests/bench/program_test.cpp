// SPDX-License-Identifier: Apache-2.0
#include "bench_program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace chorus::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Program, PrintsTheOsuFormatOnceAndNothingElse) {
  const Outcome outcome = run(2, "allreduce -m 4:16 -i 20 -c -f");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(blanked(outcome.output),
            "\n# chorus Allreduce Latency Test vN\n"
            "# Datatype: MPI_FLOAT.\n"
            "# Ranks: 2. Algorithm: auto.\n"
            "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation"
            "   P25 Latency(us)   P50 Latency(us)   P75 Latency(us)\n"
            "4 # # #          20              Pass # # #\n"
            "8 # # #          20              Pass # # #\n"
            "16 # # #          20              Pass # # #\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(Program, MeasuresEveryCollectiveWithAnyNumberOfRanks) {
  for (const int ranks : {1, 3}) {
    const Outcome outcome = run(ranks, "all -m 0:4K -i 3 -x 1 -c --json " + path("out.json"));
    EXPECT_EQ(outcome.exit_code, 0) << "on " << ranks << ": " << outcome.errors;
    EXPECT_THAT(outcome.output, Not(HasSubstr("Fail")));
    std::map<std::string, int> lines;
    for (const nlohmann::json& line : objects(contents(path("out.json")))) ++lines[line.at("collective")];
    EXPECT_GT(lines.size(), 10U);
    for (const auto& [collective, sizes] : lines) {
      const bool short_ones_left_out = collective.starts_with("reduce_scatter") && ranks == 3;  // 4 and 8 bytes
      EXPECT_EQ(sizes, collective == "barrier" ? 1 : short_ones_left_out ? 10 : 12) << collective << " on " << ranks;
    }
  }
}

TEST_F(Program, LeavesOutOfAllWhatCannotHaveTheSize) {
  for (const char* measurement : {"", "regret "}) {
    const Outcome outcome = run(3, fmt::format("{}all -m 4:4 -i 2 -x 1", measurement));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr("# reduce_scatter_block is left out: -m: 4 bytes are less than one float32 "
                                          "for each of the 3 ranks\n"));
    EXPECT_THAT(outcome.output, Not(HasSubstr("Reduce_scatter_block ")));
    EXPECT_THAT(outcome.output, HasSubstr("# chorus Allreduce "));
  }
  EXPECT_EQ(run(3, "reduce_scatter_block -m 4:4 -i 2 -x 1").exit_code, 2);
}

TEST_F(Program, WritesJson) {
  const Outcome outcome = run(2, "allgather -m 4:1K -i 20 --json " + path("out.json"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  const std::vector<nlohmann::json> lines = objects(contents(path("out.json")));
  ASSERT_EQ(lines.size(), 9U);
  std::size_t bytes = 4;
  for (const nlohmann::json& line : lines) {
    EXPECT_EQ(line.at("collective"), "allgather");
    EXPECT_EQ(line.at("algorithm"), "auto");
    EXPECT_EQ(line.at("ranks"), 2);
    EXPECT_EQ(line.at("nodes"), 1);
    EXPECT_EQ(line.at("ranks_per_node"), 2);
    EXPECT_EQ(line.at("bytes"), bytes);
    EXPECT_EQ(line.at("iterations"), 20);
    EXPECT_EQ(line.at("valid"), true);
    EXPECT_GT(line.at("median_us"), 0.0);
    EXPECT_LE(line.at("p25_us"), line.at("median_us"));
    EXPECT_LE(line.at("median_us"), line.at("p75_us"));
    EXPECT_FALSE(line.contains("ratio"));
    bytes *= 2;
  }
}

TEST_F(Program, ComparesWithMpi) {
  const Outcome outcome = run(2, "allreduce -m 4:8 -i 50 --compare native --json " + path("out.json"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("# Geometric mean of the ratios (chorus/MPI): "));
  for (const nlohmann::json& line : objects(contents(path("out.json")))) {
    const double ratio = line.at("ratio");
    EXPECT_NEAR(ratio, line.at("median_us").get<double>() / line.at("native_median_us").get<double>(), 1e-9 * ratio);
    EXPECT_LE(line.at("ratio_low"), ratio);
    EXPECT_LE(ratio, line.at("ratio_high"));
  }
}

TEST_F(Program, MeasuresEveryAlgorithmInATableOfItsOwn) {
  const Outcome outcome = run(2, "allreduce -m 4:4 -i 3 -c --algorithm all");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("Algorithm: native."));
  EXPECT_THAT(outcome.output, HasSubstr("Algorithm: ring."));
}

TEST_F(Program, DrawsAPlot) {
  const Outcome outcome = run(2, "reduce -m 4:1K -i 5 --plot " + path("out.svg"));
  EXPECT_EQ(outcome.exit_code, 0);
  if (outcome.errors.find("gnuplot is missing") != std::string::npos) GTEST_SKIP() << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_THAT(contents(path("out.svg")), HasSubstr("</svg>"));
}

TEST_F(Program, MeasuresRegretAmongTheAlgorithmsThatApply) {
  for (const char* choice : {"", "env CHORUS_ALLREDUCE=ring"}) {
    const Outcome outcome = run(3, "regret allreduce -m 512:1K -i 3 -x 1 --json " + path("out.json"), choice);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr("# chorus Allreduce Regret Test v"));
    EXPECT_THAT(outcome.output, HasSubstr("# Regret of allreduce: geometric mean "));
    std::map<std::size_t, std::vector<std::string>> measured, chosen;
    for (const nlohmann::json& line : objects(contents(path("out.json")))) {
      measured[line.at("bytes")].push_back(line.at("algorithm"));
      if (line.at("chosen")) chosen[line.at("bytes")].push_back(line.at("algorithm"));
    }
    ASSERT_EQ(measured.size(), 2U);
    for (const auto& [bytes, algorithms] : measured) {
      EXPECT_THAT(algorithms, testing::IsSupersetOf({"ring", "native", "slot"}));
      EXPECT_THAT(algorithms, Not(testing::Contains("line"))) << "is for shorter messages";
      ASSERT_EQ(chosen[bytes].size(), 1U);
      EXPECT_TRUE(*choice == '\0' || chosen[bytes][0] == "ring");
      EXPECT_THAT(outcome.output, testing::ContainsRegex(fmt::format("\n{} +{} ", bytes, chosen[bytes][0])));
    }
  }
}

TEST_F(Program, MeasuresRegretOfAllCollectives) {
  const Outcome outcome = run(2, "regret -m 64:64 -i 3 -x 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("# chorus Barrier Regret Test v"));
  EXPECT_THAT(outcome.output, HasSubstr("# chorus Reduce_scatter Regret Test v"));
  EXPECT_THAT(outcome.output, HasSubstr("\n# Regret of all collectives: "));
}

TEST_F(Program, MeasuresTheFloorOfEveryCollective) {
  for (const int ranks : {2, 3}) {
    const Outcome outcome = run(ranks, "floor -m 64:128 -i 3 -x 1 --json " + path("out.json"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr("# chorus Node Speed Test v"));
    EXPECT_THAT(outcome.output, HasSubstr("\n# Geometric mean of floor/median of all collectives: "));
    std::map<std::string, int> lines;
    for (const nlohmann::json& line : objects(contents(path("out.json")))) {
      ++lines[line.at("collective")];
      EXPECT_GT(line.at("floor_us"), 0.0);
      EXPECT_EQ(line.at("valid"), true);
    }
    EXPECT_GT(lines.size(), 10U);
    for (const auto& [collective, sizes] : lines) EXPECT_EQ(sizes, collective == "barrier" ? 1 : 2) << collective;
  }
}

TEST_F(Program, MeasuresTheOverlapOfEveryCollective) {
  const Outcome outcome = run(3, "overlap -m 60:120 --compare native -i 3 -x 1 --json " + path("out.json"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("# chorus Allreduce Overlap Test v"));
  EXPECT_THAT(outcome.output, HasSubstr("\n# Progress thread: off"));
  std::map<std::string, int> lines;
  for (const nlohmann::json& line : objects(contents(path("out.json")))) {
    ++lines[line.at("collective")];
    EXPECT_EQ(line.at("valid"), true) << line;
    for (const char* field : {"median_us", "nonblocking_median_us", "nonblocking_ratio", "persistent_median_us",
                              "persistent_ratio", "compute_us", "native_nonblocking_median_us"}) {
      EXPECT_GT(line.at(field), 0.0) << field << ": " << line;
    }
    for (const char* field : {"overlap_percent", "tested_overlap_percent", "native_overlap_percent"}) {
      EXPECT_GE(line.at(field), 0.0) << field << ": " << line;
      EXPECT_LE(line.at(field), 100.0) << field << ": " << line;
    }
  }
  EXPECT_EQ(lines.size(), 17U);
  for (const auto& [collective, sizes] : lines) EXPECT_EQ(sizes, collective == "barrier" ? 1 : 2) << collective;
}

TEST_F(Program, MeasuresTheOverlapThatAProgressThreadMakes) {
  const Outcome outcome =
      run(2, "overlap allreduce -m 16K:64K --compute sleep --tests 2 -f -i 5 -x 1", "env CHORUS_PROGRESS_THREAD=1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("\n# Progress thread: on.\n"));
  EXPECT_THAT(outcome.output, HasSubstr("for 2 ranks and 2 progress threads on the fullest node"));
  EXPECT_THAT(outcome.output, HasSubstr("\n# Compute: sleeping (the processor is free), "));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("\n65536( +[0-9]+[.][0-9]+){16}\n"));
}

TEST_F(Program, MeasuresTheStrategies) {
  struct Job {
    int ranks, replicas;
    const char* strategy;
  };
  for (const Job& job :
       {Job{1, 2, "mirrored"}, Job{2, 1, "multi-worker mirrored"}, Job{2, 2, "multi-worker mirrored"}}) {
    const Outcome outcome = run(job.ranks, fmt::format("strategies --replicas {} -m 4:16 -i 3 -x 1", job.replicas));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr(fmt::format("\n# Strategy: {}. Workers: {}. Replicas of each: {}.\n",
                                                      job.strategy, job.ranks, job.replicas)));
    EXPECT_THAT(outcome.output, testing::ContainsRegex("\n4( +[-0-9]+[.][0-9]+){8}\n8 .*\n16 "));
    EXPECT_THAT(outcome.output, testing::ContainsRegex("\nin packs( +[0-9]+[.][0-9]+){4}\n"));
    EXPECT_THAT(outcome.output, HasSubstr("which hides "));
  }
  EXPECT_EQ(run(1, "strategies --replicas 1").exit_code, 2);
}

TEST_F(Program, MeasuresWithoutGnuplotAndSaysWhatToInstall) {
  const Outcome outcome = run(2, "reduce -m 4:8 -i 5 --plot " + path("out.svg"), "env PATH=/nonexistent");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("gnuplot-nox"));
  EXPECT_THAT(outcome.output, HasSubstr("\n8 "));
  EXPECT_FALSE(std::filesystem::exists(path("out.svg")));
}

TEST_F(Program, RefusesOnEveryRankWithOneLine) {
  for (const char* arguments :
       {"alreduce", "allreduce -m 8:4", "allreduce -i 0", "allreduce --algorithm rign",
        "allreduce -m 1M:2M --algorithm line", "allreduce --json /nonexistent/out.json",
        "allreduce --plot /nonexistent/out.svg", "allreduce -m 4:99999999G", "allgather -m 4:17179869183G"}) {
    expect_refused(run(3, arguments), arguments);
  }
}

TEST_F(Program, RefusesAWrongEnvironmentBeforeTheTable) {
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"CHORUS_TIMEOUT=x", "barrier on rank 0: environment variable CHORUS_TIMEOUT=x: "},
      {"CHORUS_BCAST=rign", "barrier on rank 0: the environment variable CHORUS_BCAST "},
      {"CHORUS_TUNING_FILE=/nonexistent", "barrier on rank 0: environment variable CHORUS_TUNING_FILE=/nonexistent: "}};
  for (const auto& [variable, words] : settings) {
    for (const char* arguments : {"allreduce", "allreduce --algorithm all"}) {
      const Outcome outcome = run(3, arguments, "env " + variable);
      expect_refused(outcome, variable);
      EXPECT_THAT(outcome.errors, HasSubstr("chorus-bench: " + words));
    }
  }
}

TEST_F(Program, RefusesTheFloorOfRanksThatDoNotShareMemory) {
  expect_refused(run(1, "floor allreduce"), "floor of one rank");
  for (const char* setting : {"CHORUS_SHARED_MEMORY=off", "CHORUS_NODE_RANKS=1"}) {
    const Outcome outcome = run(2, "floor allreduce", fmt::format("env {}", setting));
    expect_refused(outcome, setting);
    EXPECT_THAT(outcome.errors, HasSubstr("through the memory of one node"));
  }
}

TEST_F(Program, SaysThatAnAlgorithmAppliesToNoneOfTheSizes) {
  const Outcome outcome = run(2, "allreduce -m 1M:2M --algorithm line");
  expect_refused(outcome, "line, which is for short messages");
  EXPECT_THAT(outcome.errors, HasSubstr("--algorithm line does not apply to any of these sizes: "));
}

TEST_F(Program, NamesTheLimitOfTheSizesAndTheRemedy) {
  const std::string errors = run(2, "allreduce -m 4:99999999G").errors;
  EXPECT_THAT(errors,
              testing::ContainsRegex("chorus-bench: -m: [0-9]+ bytes are too many: .* for up to [1-9][0-9]+ bytes; "));
  EXPECT_THAT(errors, HasSubstr("give a smaller MAX"));
}

TEST_F(Program, NamesWhatMpiDoesNotCount) {
  EXPECT_THAT(
      run(2, "alltoallw --compare native -m 1G:1G").errors,
      HasSubstr("--compare: a buffer of alltoallw has 536870912 elements, and MPI counts no more than 536870911;"));
  EXPECT_THAT(
      run(2, "allgatherv --compare native -m 4G:4G").errors,
      HasSubstr("--compare: a buffer of allgatherv has 2147483648 elements, and MPI counts no more than 2147483647;"));
}

TEST_F(Program, LeavesOutTheSizesToWhichTheAlgorithmDoesNotApply) {
  const Outcome outcome = run(2, "allreduce -m 32:1K -i 3 --algorithm line");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(blanked(outcome.output), HasSubstr("\n32 #\n"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("\n1024 +n/a\n"));
}

TEST_F(Program, RefusesMemoryOfDevicesThatAreNotThere) {
  const Outcome outcome = run(2, "allreduce --memory device", "env CHORUS_CUDA_LIBRARY=/nonexistent.so");
  expect_refused(outcome, "no driver");
  EXPECT_THAT(outcome.errors, HasSubstr("chorus-bench: --memory device: rank 0: "));
  EXPECT_THAT(outcome.errors, testing::AnyOf(HasSubstr("without CUDA"), HasSubstr("/nonexistent.so cannot be loaded")));
}

}  // namespace
}  // namespace chorus::bench
