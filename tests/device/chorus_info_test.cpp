// SPDX-License-Identifier: Apache-2.0
// What chorus-info says of GPUs, which the double of CUDA's driver pretends in each process, on a machine that hwloc
// describes.
#include "worlds/command.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace {

using testing::HasSubstr;
using testing::Not;

using chorus::test::run_command;

const std::string machine = "HWLOC_XMLFILE=" FOUR_GPUS " ";
const std::string driver = "CHORUS_CUDA_LIBRARY=" CUDA_DOUBLE " DEVICE_DOUBLE_DEVICES=4 ";
const std::string program = CHORUS_INFO " topology ";

/// So many ranks, each in an environment of its own.
std::string rank(const std::string& environment, int ranks = 1) {
  return "-n " + std::to_string(ranks) + " env " + environment + program;
}

TEST(ChorusInfoGpus, SaysNothingWithoutThem) {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) GTEST_SKIP() << "there is a driver";
  const auto [exit_code, output] = run_command(MPIRUN " " + rank("HWLOC_SYNTHETIC='pack:2 core:2 pu:1' ", 2));
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(output, Not(HasSubstr("GPU")));
}

TEST(ChorusInfoGpus, SharesThemOutAmongTheRanks) {
  const auto [exit_code, output] = run_command(MPIRUN " " + rank(machine + driver, 3));
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(output, HasSubstr("\nrank 0: GPU 0 (0000:1a:00.0), same machine, rank not bound\n"
                                "rank 1: GPU 1 (0000:2b:00.0), same machine, rank not bound\n"
                                "rank 2: GPU 2 (0000:3c:00.0), same machine, rank not bound\n\n"));
}

TEST(ChorusInfoGpus, GivesABoundRankTheNearest) {
  if (run_command("taskset -c 0 true 2>/dev/null").exit_code != 0) GTEST_SKIP() << "may not run on PU 0";
  // The first unit of this machine is taken for that of the described one.
  const auto [exit_code, output] =
      run_command("taskset -c 0 env HWLOC_THISSYSTEM=1 CUDA_VISIBLE_DEVICES=3,0,1 " + machine + driver + program);
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(output, HasSubstr("\nrank 0: GPU 1 (0000:1a:00.0), beside it\n"
                                "GPUs seen: CUDA_VISIBLE_DEVICES=3,0,1\n"));
}

TEST(ChorusInfoGpus, KeepsRanksToWhatTheySee) {
  const std::string both = machine + driver;
  const auto [exit_code, output] =
      run_command(MPIRUN " " + rank("CUDA_VISIBLE_DEVICES=2 " + both) + ": " + rank("CUDA_VISIBLE_DEVICES=0 " + both) +
                  ": " + rank("CUDA_VISIBLE_DEVICES=0,1 " + both));
  ASSERT_EQ(exit_code, 0) << output;
  EXPECT_THAT(output, HasSubstr("\nrank 0: GPU 0 (0000:3c:00.0), same machine, rank not bound\n"
                                "rank 1: GPU 0 (0000:1a:00.0), same machine, rank not bound\n"
                                "rank 2: GPU 1 (0000:2b:00.0), same machine, rank not bound\n"
                                "GPUs seen: CUDA_VISIBLE_DEVICES=2 (rank 0); CUDA_VISIBLE_DEVICES=0 (rank 1); "
                                "CUDA_VISIBLE_DEVICES=0,1 (rank 2)\n"));
}

TEST(ChorusInfoGpus, SaysWhyNoneCanBeUsed) {
  const std::string hidden = run_command("env CUDA_VISIBLE_DEVICES= " + machine + driver + program).output;
  EXPECT_THAT(hidden, HasSubstr("\nGPUs seen: none with CUDA_VISIBLE_DEVICES=: the CUDA driver does not start ("));
  const std::string missing = run_command("env CHORUS_CUDA_LIBRARY=/no/driver.so " + machine + program).output;
  EXPECT_THAT(missing, HasSubstr("\nGPUs seen: none: /no/driver.so cannot be loaded"));
}

TEST(ChorusInfoGpus, DoesWhatIsWanted) {
  const auto [exit_code, output] = run_command(MPIRUN " " + rank("CHORUS_GPUS=3,3 " + machine + driver, 2) + "--json");
  ASSERT_EQ(exit_code, 0) << output;
  const auto report = nlohmann::json::parse(output);
  for (const auto& one : report.at("ranks")) {
    EXPECT_EQ(one.at("gpu").at("bus_id"), "0000:4d:00.0");
    EXPECT_EQ(one.at("gpu").at("wanted"), true);
  }
}

TEST(ChorusInfoGpus, RefusesWhatCannotBe) {
  const auto [exit_code, output] = run_command("env CHORUS_GPUS=4 " + machine + driver + program + "2>&1");
  EXPECT_EQ(exit_code, 2);
  EXPECT_THAT(output, testing::StartsWith("chorus-info: nearest_gpu on rank 0: environment variable CHORUS_GPUS=4: "
                                          "entry 0 names GPU 4 for rank 0, which can use 0 to 3; "));
}

}  // namespace
