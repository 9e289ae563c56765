// SPDX-License-Identifier: Apache-2.0
// chorus-bench on memory of devices, which doubles of CUDA's driver and of NCCL pretend. That of NCCL connects ranks of
// one process alone: with several of them each finds no NCCL, and calls are staged.
#include "bench_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace chorus::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* without_nccl = "env CHORUS_NCCL_LIBRARY=/nonexistent.so";

class DeviceProgram : public Program {};

TEST_F(DeviceProgram, PrintsTheOsuFormatWithTheBusBandwidth) {
  const Outcome outcome = run(3, "allreduce --memory device -m 4:16 -i 5 -x 1 -c", without_nccl);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_EQ(blanked(outcome.output),
            "\n# chorus Allreduce Latency Test vN\n"
            "# Datatype: MPI_FLOAT.\n"
            "# Ranks: 3. Algorithm: auto.\n"
            "# Memory: device (Pretended device A100).\n"
            "# Size       Avg Latency(us)  Bus BW(GB/s)        Validation\n"
            "4 # #              Pass\n"
            "8 # #              Pass\n"
            "16 # #              Pass\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(DeviceProgram, MeasuresEveryCollectiveThatTakesSuchMemory) {
  for (const int ranks : {1, 3}) {
    const Outcome outcome = run(ranks, "all --memory device -m 0:4K -i 2 -x 1 -c --json " + path("out.json"),
                                ranks > 1 ? without_nccl : "");
    EXPECT_EQ(outcome.exit_code, 0) << "on " << ranks << ": " << outcome.errors;
    EXPECT_THAT(outcome.output, Not(HasSubstr("Fail")));
    std::map<std::string, int> lines;
    for (const nlohmann::json& line : objects(contents(path("out.json")))) {
      ++lines[line.at("collective")];
      EXPECT_EQ(line.at("memory"), "device");
      EXPECT_EQ(line.at("device"), "Pretended device A100");
      EXPECT_EQ(line.at("algorithm"), "auto");
      EXPECT_EQ(line.at("valid"), true);
      EXPECT_GT(line.at("median_us"), 0.0);
    }
    EXPECT_EQ(lines.size(), 13U);
    EXPECT_FALSE(lines.contains("scan"));
  }
}

TEST_F(DeviceProgram, MeasuresEachAlgorithm) {
  const Outcome alone = run(1, "allgather --memory device -m 4:4 -i 3 -c --algorithm all");
  EXPECT_EQ(alone.exit_code, 0) << alone.errors;
  EXPECT_THAT(alone.output, testing::ContainsRegex("Algorithm: nccl.\n(#.*\n)*4 .*Pass\n"));
  EXPECT_THAT(alone.output, testing::ContainsRegex("Algorithm: staged.\n(#.*\n)*4 .*Pass\n"));
  const Outcome several = run(2, "allgather --memory device -m 4:4 -i 3 -c --algorithm all", without_nccl);
  EXPECT_EQ(several.exit_code, 0) << several.errors;
  EXPECT_THAT(several.output, testing::ContainsRegex("Algorithm: nccl.\n(#.*\n)*4 +n/a\n"));
  expect_refused(run(2, "allgather --memory device --algorithm nccl", without_nccl), "NCCL, where there is none");
}

TEST_F(DeviceProgram, ComparesWithNccl) {
  for (const char* collective : {"allreduce", "alltoall"}) {
    const std::string arguments = std::string(collective) + " --memory device --compare nccl -m 4:8 -i 5 -x 1 -c";
    const Outcome outcome = run(1, arguments + " --json " + path("out.json"));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_THAT(outcome.output, HasSubstr("# Ratio: chorus/NCCL, "));
    EXPECT_THAT(outcome.output, HasSubstr("  NCCL Median(us)  "));
    EXPECT_THAT(outcome.output, HasSubstr("# Geometric mean of the ratios (chorus/NCCL): "));
    for (const nlohmann::json& line : objects(contents(path("out.json")))) {
      const double ratio = line.at("ratio");
      EXPECT_NEAR(ratio, line.at("median_us").get<double>() / line.at("nccl_median_us").get<double>(), 1e-9 * ratio);
      EXPECT_LE(line.at("ratio_low"), ratio);
      EXPECT_FALSE(line.contains("native_median_us"));
    }
  }
}

TEST_F(DeviceProgram, MeasuresRegret) {
  const Outcome outcome = run(1, "regret allreduce --memory device -m 4:8 -i 3 -x 1 --json " + path("out.json"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("# Memory: device ("));
  std::map<std::string, int> lines;
  for (const nlohmann::json& line : objects(contents(path("out.json")))) ++lines[line.at("algorithm")];
  std::erase_if(lines, [](const auto& line) { return line.first.starts_with("ipc_"); });  // which need nvcc
  EXPECT_EQ(lines, (std::map<std::string, int>{{"nccl", 2}, {"staged", 2}}));
}

TEST_F(DeviceProgram, MeasuresNoRegretWhereNothingIsChosen) {
  const Outcome empty = run(1, "regret allreduce --memory device -m 0:0 -i 3 -x 1");
  EXPECT_EQ(empty.exit_code, 0) << empty.errors;
  EXPECT_THAT(empty.output, HasSubstr("# Regret of allreduce: none, as nothing is chosen for such calls\n"));
  const Outcome several = run(1, "regret allreduce --memory device -m 0:4 -i 3 -x 1");
  EXPECT_EQ(several.exit_code, 0) << several.errors;
  EXPECT_THAT(several.output, testing::ContainsRegex("# Regret of allreduce: .* of 1[,\n]"));
}

TEST_F(DeviceProgram, RefusesWhereThereIsNoDevice) {
  const Outcome outcome = run(2, "allreduce --memory device", "env DEVICE_DOUBLE_DEVICES=0");
  expect_refused(outcome, "no device");
  EXPECT_THAT(outcome.errors, HasSubstr("--memory device: rank 0: the CUDA driver does not start"));
}

TEST_F(DeviceProgram, RefusesToCompareWithWhatCannotBeCalled) {
  const Outcome missing = run(2, "allreduce --memory device --compare nccl", without_nccl);
  expect_refused(missing, "no NCCL");
  EXPECT_THAT(missing.errors, HasSubstr("--compare nccl: rank 0: /nonexistent.so cannot be loaded"));
  const Outcome shared = run(2, "allreduce --memory device --compare nccl", "env DEVICE_DOUBLE_DEVICES=1");
  expect_refused(shared, "ranks that share a device");
  EXPECT_THAT(shared.errors, HasSubstr("--compare nccl: NCCL cannot connect these ranks"));
}

TEST_F(DeviceProgram, GivesMpiNoMemoryOfDevicesThatItDoesNotTake) {
  const Outcome outcome = run(2, "allreduce --memory device --compare native -i 3", without_nccl);
  if (outcome.exit_code == 0) GTEST_SKIP() << "the MPI library is CUDA-aware";
  expect_refused(outcome, "an MPI library that is not CUDA-aware");
  EXPECT_THAT(outcome.errors, HasSubstr("--compare native: the MPI library does not say that it takes memory of dev"));
}

}  // namespace
}  // namespace chorus::bench
