// SPDX-License-Identifier: Apache-2.0
// Runs chorus-info as a user does.
#include "worlds/command.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

namespace {

using chorus::test::run_command;

const std::string program = CHORUS_INFO " topology ";

TEST(ChorusInfoTopology, AloneShowsTheBindingOfItsProcess) {
  const auto [exit_code, output] = run_command(program);
  EXPECT_EQ(exit_code, 0);
  EXPECT_NE(output.find("rank 0  pid "), std::string::npos) << output;
  EXPECT_NE(output.find("\n1 rank, 1 host, "), std::string::npos) << output;
}

TEST(ChorusInfoTopology, UnderMpirunShowsEveryRankOnce) {
  const auto [exit_code, output] = run_command(MPIRUN " -n 3 " + program + "--json");
  ASSERT_EQ(exit_code, 0) << output;
  const auto report = nlohmann::json::parse(output);  // one document: the other ranks are silent
  ASSERT_EQ(report.at("ranks").size(), 3U);
  EXPECT_EQ(report.at("hosts").size(), 1U);
  EXPECT_EQ(report["hosts"][0].at("ranks"), nlohmann::json({0, 1, 2}));
  EXPECT_NE(report["ranks"][0].at("pid"), report["ranks"][1].at("pid"));
}

TEST(ChorusInfoTopology, ShowsADescribedMachine) {
  const auto [exit_code, output] = run_command(program + "--input 'pack:2 l3:2 core:3 pu:1'");
  EXPECT_EQ(exit_code, 0);
  EXPECT_NE(output.find("2 packages, 12 cores, 12 PUs"), std::string::npos) << output;
  EXPECT_EQ(output.find("rank"), std::string::npos) << output;
}

TEST(ChorusInfoTopology, AsksNvmlForWhatHwlocDoesNotTell) {
  const auto [exit_code, output] = run_command(
      "env HWLOC_XMLFILE=" UNDESCRIBED_GPUS " HWLOC_THISSYSTEM=1 CHORUS_NVML_LIBRARY=" NVML_DOUBLE " " + program);
  EXPECT_EQ(exit_code, 0);
  EXPECT_NE(output.find("\n  GPU 0: 0000:00:06.0, NVIDIA H100 80GB HBM3, 80 GB; NVLink to GPU 1 at 50 GB/s\n"
                        "  GPU 1: 0000:00:07.0, NVIDIA H100 80GB HBM3, 80 GB; NVLink to GPU 0 at 50 GB/s\n"),
            std::string::npos)
      << output;
}

TEST(ChorusInfoTopology, DrawsAPicture) {
  const std::string path = testing::TempDir() + "chorus_topology_" + std::to_string(getpid()) + ".svg";
  EXPECT_EQ(run_command(program + "--svg " + path).exit_code, 0);
  std::ifstream file(path);
  const std::string svg(std::istreambuf_iterator<char>(file), {});
  unlink(path.c_str());
  EXPECT_TRUE(svg.starts_with("<?xml")) << svg;
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(ChorusInfoTopology, SaysInOneLineWhatIsWrong) {
  for (const char* const arguments : {"--input socks:3", "--input /no/such/file.xml", "--svg /no/such/folder/x.svg",
                                      "--input", "--unknown", "surplus"}) {
    const auto [exit_code, output] = run_command(program + arguments + " 2>&1 >/dev/null");
    EXPECT_EQ(exit_code, 2) << arguments;
    EXPECT_TRUE(output.starts_with("chorus-info: ")) << output;
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
  }
  EXPECT_TRUE(run_command(program + "--input socks:3 2>&1")
                  .output.starts_with("chorus-info: --input \"socks:3\": no such file"));
  const auto [exit_code, output] = run_command(CHORUS_INFO " 2>&1");
  EXPECT_EQ(exit_code, 2);
  EXPECT_TRUE(output.starts_with("chorus-info: a command is missing; there are topology, explain, ")) << output;
  EXPECT_EQ(run_command(program + "--help").exit_code, 0);
}

TEST(ChorusInfoTransports, ShowsThatEveryKindOfSharedMemoryIsShared) {
  for (const char* const kind : {"memfd", "named"}) {
    const auto [exit_code, output] =
        run_command(MPIRUN " -n 2 env CHORUS_SHARED_MEMORY=" + std::string(kind) + " " CHORUS_INFO " transports");
    EXPECT_EQ(exit_code, 0);
    EXPECT_NE(output.find("ranks 2, kernels 1, groups that share memory 1"), std::string::npos)
        << kind << ": " << output;
  }
}

TEST(ChorusInfoTransports, SaysWhyThereAreNoNamedSegmentsAndWhatHelps) {
  // Open MPI and the UCX of MPICH put files of their own there; MPICH itself takes a page of it.
  const std::string in_namespace =
      "OMPI_MCA_btl_vader_backing_directory=/tmp UCX_POSIX_DIR=/tmp unshare -m sh -c 'mount -t tmpfs ";
  if (run_command(in_namespace + "none /mnt' 2>&1").exit_code != 0) GTEST_SKIP() << "may not mount";
  const std::string program = MPIRUN " -n 2 env CHORUS_SHARED_MEMORY=named " CHORUS_INFO " transports 2>&1'";
  const std::string full = run_command(in_namespace + "-o size=64k none /dev/shm && " + program).output;
  EXPECT_TRUE(
      std::regex_search(full, std::regex("rank 0 on host [^ ]+ cannot make a file of [0-9]+ bytes in /dev/shm, "
                                         "where (65536|61440) are free: No space left on device; .*--shm-size=.*"
                                         "remount,size=.*CHORUS_SLOT_BYTES=")))
      << full;
  const std::string closed = run_command(in_namespace + "-o ro none /dev/shm && " + program).output;
  EXPECT_NE(closed.find("in /dev/shm, where "), std::string::npos) << closed;
  EXPECT_NE(closed.find("Read-only file system; let the program write there"), std::string::npos) << closed;
}

TEST(ChorusInfoTransports, SaysWhyThereIsNoSingleCopy) {
  const auto [exit_code, output] = run_command(MPIRUN " -n 2 env CHORUS_SINGLE_COPY=0 " CHORUS_INFO " transports");
  EXPECT_EQ(exit_code, 0);
  EXPECT_NE(output.find("no single copy: CHORUS_SINGLE_COPY=0"), std::string::npos) << output;
}

TEST(ChorusInfoExplain, CountsOnSingleCopiesOfImaginedRanksOfOneNode) {
  const std::string program = CHORUS_INFO " explain allgather 1MiB --ranks 4";
  EXPECT_EQ(run_command(program).output.find("single_copy                          -"), std::string::npos);
  EXPECT_NE(run_command(program + " --nodes 2").output.find("single_copy                          -"),
            std::string::npos);
}

TEST(ChorusInfoExplain, WantsASizeOfWhatHasOne) {
  const auto [exit_code, output] = run_command(CHORUS_INFO " explain barrier");
  EXPECT_EQ(exit_code, 0) << output;
  EXPECT_TRUE(output.starts_with("barrier")) << output;
  const auto [without, text] = run_command(CHORUS_INFO " explain allreduce 2>&1");
  EXPECT_EQ(without, 2);
  EXPECT_TRUE(text.starts_with("chorus-info: SIZE is missing")) << text;
}

TEST(ChorusInfoExplain, SaysWhyAnAlgorithmDoesNotApply) {
  const std::string output = run_command(CHORUS_INFO " explain allreduce 1MiB --ranks 4").output;
  EXPECT_NE(output.find("does not apply: it carries 14 such elements at most"), std::string::npos) << output;
  EXPECT_NE(output.find("does not apply: it is for memory of GPUs"), std::string::npos) << output;
}

TEST(ChorusInfoExplain, SaysHowManyRanksTheCallIsFor) {
  const std::string program = CHORUS_INFO " explain allreduce 4";
  EXPECT_TRUE(run_command(program).output.starts_with("allreduce of 1 float32 by sum (4 bytes) on 1 rank, 1 node"));
  EXPECT_TRUE(run_command(program + " --ranks 8 --nodes 2").output.find(" on 8 ranks, 2 nodes\n") != std::string::npos);
}

TEST(ChorusInfoExplain, CountsBlocksOfDifferentLengthsAsTheCallDoes) {
  EXPECT_TRUE(run_command(CHORUS_INFO " explain allgatherv 1K --ranks 4")
                  .output.starts_with("allgatherv of 1024 float32 (4096 bytes) on 4 ranks"));
  const std::string unknown = run_command(CHORUS_INFO " explain alltoallv 1K --ranks 4").output;
  EXPECT_TRUE(unknown.starts_with("alltoallv of float32 (of any lengths) on 4 ranks, 1 node")) << unknown;
}

TEST(ChorusInfoExplain, RefusesRanksThatCannotBe) {
  for (const char* const arguments : {"--ranks 0", "--ranks -1", "--ranks 2 --nodes 3", "--nodes 2"}) {
    EXPECT_EQ(run_command(CHORUS_INFO " explain allreduce 4 " + std::string(arguments) + " 2>/dev/null").exit_code, 2)
        << arguments;
  }
}

TEST(ChorusInfoExplain, RefusesSizesThatAreNoWholeElements) {
  const std::string program = CHORUS_INFO " explain ";
  EXPECT_EQ(run_command(program + "allreduce 3 2>&1").output,
            "chorus-info: SIZE: 3 bytes are no whole number of float32 elements\n");
  EXPECT_EQ(run_command(program + "bcast 6 2>&1").exit_code, 2);
  const std::string scattered = program + "reduce_scatter_block 8 --ranks ";
  EXPECT_EQ(run_command(scattered + "4 2>&1").output,
            "chorus-info: SIZE: 8 bytes are less than one float32 for each of the 4 ranks\n");
  EXPECT_EQ(run_command(scattered + "2").exit_code, 0);
  EXPECT_EQ(run_command(program + "allreduce 0").exit_code, 0);
  EXPECT_EQ(run_command(program + "barrier").exit_code, 0);
  const auto [exit_code, output] = run_command(program + "barrier 4 2>&1");
  EXPECT_EQ(exit_code, 2);
  EXPECT_EQ(output, "chorus-info: a barrier has no SIZE: leave it out\n");
}

TEST(ChorusInfo, NamesAllThatItDoesNotUnderstandInTheOrderTyped) {
  EXPECT_EQ(run_command(program + "one --two three 2>&1").output,
            "chorus-info: not understood: one --two three (see --help)\n");
  EXPECT_EQ(run_command(CHORUS_INFO " --two 2>&1").output, "chorus-info: not understood: --two (see --help)\n");
  EXPECT_EQ(run_command(CHORUS_INFO " topology --jsn 2>&1").output,
            "chorus-info: not understood: --jsn; did you mean --json? (see --help)\n");
}

TEST(ChorusInfo, SaysItsVersion) {
  const auto [exit_code, output] = run_command(CHORUS_INFO " --version");
  EXPECT_EQ(exit_code, 0);
  EXPECT_TRUE(output.starts_with("chorus-info ")) << output;
}

TEST(ChorusInfo, NamesTheNearestCommand) {
  const auto [exit_code, output] = run_command(CHORUS_INFO " topologie 2>&1");
  EXPECT_EQ(exit_code, 2);
  EXPECT_NE(output.find("there is no command topologie; did you mean \"topology\"?"), std::string::npos) << output;
}

TEST(ChorusInfoExplain, SaysWhereTheEnvironmentIsPassedOver) {
  const auto [exit_code, output] =
      run_command("env CHORUS_ALLREDUCE=line " CHORUS_INFO " explain allreduce 1M --ranks 8 --nodes 2");
  EXPECT_EQ(exit_code, 0);
  EXPECT_NE(output.find("<- taken: CHORUS_ALLREDUCE=line does not apply to this call; fastest as predicted"),
            std::string::npos)
      << output;
}

TEST(ChorusInfoExplain, SaysOnceWhatIsWrongWithTheEnvironment) {
  const auto [exit_code, output] =
      run_command(MPIRUN " -n 2 env CHORUS_TIMEOUT=x " CHORUS_INFO " explain allreduce 4 2>&1 >/dev/null");
  EXPECT_EQ(exit_code, 2);
  const std::size_t found =
      output.find("chorus-info: barrier on rank 0: environment variable CHORUS_TIMEOUT=x: expected");
  ASSERT_NE(found, std::string::npos) << output;
  EXPECT_EQ(output.find("chorus-info: ", found + 1), std::string::npos) << output;
}

}  // namespace
