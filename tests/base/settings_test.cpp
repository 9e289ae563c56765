// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"

#include "base/names.hpp"

#include <chorus/error.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

namespace chorus {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

Settings parse(std::initializer_list<const char*> entries) {
  std::vector<const char*> environment(entries);
  environment.push_back(nullptr);
  return Settings::parse(environment.data());
}

/// What is wrong with `entry`; empty if nothing is.
std::string rejection(const char* entry) {
  try {
    static_cast<void>(parse({entry}));
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_environment);
    return error.message();
  }
}

TEST(Settings, WithoutVariablesAreTheDefaults) {
  const Settings settings = parse({});
  for (const std::string& algorithm : settings.algorithm) EXPECT_EQ(algorithm, "");
  EXPECT_EQ(settings.timeout, 0ns);
  EXPECT_EQ(settings.stall_warning, 60s);
  EXPECT_EQ(settings.shared_memory, SharedMemory::automatic);
  EXPECT_EQ(settings.node_ranks, 0);
  EXPECT_TRUE(settings.domains.empty());
  EXPECT_EQ(settings.tuning, TuningFile());
  EXPECT_FALSE(settings.deterministic);
  EXPECT_FALSE(settings.reproducible);
  EXPECT_FALSE(settings.log);
}

TEST(Settings, LookAtNoOtherVariables) {
  const Settings settings =
      parse({"PATH=/bin", "CHORUS", "CHORUS_LOG", "chorus_log=info", "OMPI_CHORUS_LOG=info", "="});
  EXPECT_FALSE(settings.log);
}

TEST(Settings, NameAnAlgorithmForEachCollective) {
  const Settings settings = parse({"CHORUS_BARRIER=a", "CHORUS_BCAST=b", "CHORUS_REDUCE=c", "CHORUS_ALLREDUCE=d",
                                   "CHORUS_ALLGATHER=e", "CHORUS_REDUCE_SCATTER_BLOCK=f", "CHORUS_ALLTOALL=g",
                                   "CHORUS_GATHER=h", "CHORUS_SCATTER=i", "CHORUS_SCAN=j", "CHORUS_EXSCAN=k"});
  EXPECT_EQ(settings.algorithm,
            (std::array<std::string, collective_count>{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}));
}

TEST(Settings, ReadEveryVariable) {
  const Settings settings =
      parse({"CHORUS_TIMEOUT=2.5", "CHORUS_STALL_WARNING=0", "CHORUS_SHARED_MEMORY=named", "CHORUS_SLOT_BYTES=64k",
             "CHORUS_SINGLE_COPY=0", "CHORUS_NODE_RANKS=3", "CHORUS_DOMAINS=8x4x2", "CHORUS_TUNING_FILE=/a=b",
             "CHORUS_GPUS=0,10,1", "CHORUS_DETERMINISTIC=1", "CHORUS_REPRODUCIBLE=1", "CHORUS_LOG=info"});
  EXPECT_EQ(settings.timeout, 2500ms);
  EXPECT_EQ(settings.stall_warning, 0ns);
  EXPECT_EQ(settings.shared_memory, SharedMemory::named);
  EXPECT_EQ(settings.slot_bytes, 65536U);
  EXPECT_FALSE(settings.single_copy);
  EXPECT_EQ(settings.node_ranks, 3);
  EXPECT_EQ(settings.domains, (std::vector<int>{8, 4, 2}));
  EXPECT_EQ(settings.gpus, (std::vector<int>{0, 10, 1}));
  EXPECT_EQ(settings.tuning.path, "/a=b");
  EXPECT_TRUE(settings.deterministic);
  EXPECT_TRUE(settings.reproducible);
  EXPECT_TRUE(settings.log);
}

TEST(Settings, ReadEveryKindOfSharedMemory) {
  EXPECT_EQ(parse({"CHORUS_SHARED_MEMORY=auto"}).shared_memory, SharedMemory::automatic);
  EXPECT_EQ(parse({"CHORUS_SHARED_MEMORY=memfd"}).shared_memory, SharedMemory::memfd);
  EXPECT_EQ(parse({"CHORUS_SHARED_MEMORY=off"}).shared_memory, SharedMemory::off);
}

TEST(Settings, ReadTheEndsOfTheRanges) {
  EXPECT_EQ(parse({"CHORUS_TIMEOUT=1e9"}).timeout, 1'000'000'000s);
  EXPECT_EQ(parse({"CHORUS_TIMEOUT=1e-9"}).timeout, 1ns);
  EXPECT_EQ(parse({"CHORUS_TIMEOUT=1e-12"}).timeout, 1ns);  // 0 would be never
  EXPECT_EQ(parse({"CHORUS_SLOT_BYTES=1k"}).slot_bytes, 1024U);
  EXPECT_EQ(parse({"CHORUS_SLOT_BYTES=64MiB"}).slot_bytes, 67108864U);
  EXPECT_EQ(parse({"CHORUS_NODE_RANKS=2147483647"}).node_ranks, 2147483647);
  EXPECT_FALSE(parse({"CHORUS_LOG=off"}).log);
}

TEST(Settings, LeaveVariablesOfModuleFilesAlone) {
  EXPECT_NO_THROW(parse({"CHORUS_ROOT=/opt/chorus", "CHORUS_LIB=/opt/chorus/lib", "CHORUS_VERSION=0.1"}));
}

TEST(Settings, OfTwoEntriesTheLastCounts) {
  EXPECT_EQ(parse({"CHORUS_NODE_RANKS=3", "CHORUS_NODE_RANKS=4"}).node_ranks, 4);
}

TEST(Settings, RejectWhatIsNoNumberOfSeconds) {
  for (const std::string variable : {"CHORUS_TIMEOUT", "CHORUS_STALL_WARNING"}) {
    for (const std::string value : {"", "-1", "2s", " 2", "2 ", "0x10", "-1e999", "nan", "inf", "soon", "1,5"}) {
      EXPECT_EQ(rejection((variable + "=" + value).c_str()),
                "environment variable " + variable + "=" + value +
                    ": expected a number of seconds, 0 for never, such as 2.5");
    }
    for (const std::string value : {"1e10", "9223372036", "1e30", "1e999"}) {
      EXPECT_EQ(
          rejection((variable + "=" + value).c_str()),
          "environment variable " + variable + "=" + value + ": expected no more than 1e9 seconds; 0 stands for never");
    }
  }
}

TEST(Settings, RejectWhatIsNoLengthOfASlot) {
  for (const std::string value : {"", "0", "960", "1000", "1025", "65M", "64MiB1", "-64k", "99999999999g", "big"}) {
    EXPECT_EQ(rejection(("CHORUS_SLOT_BYTES=" + value).c_str()),
              "environment variable CHORUS_SLOT_BYTES=" + value +
                  ": expected a length in bytes from 1k to 64M that is a multiple of 64, such as 256k");
  }
}

TEST(Settings, RejectWhatIsNoNumberOfRanks) {
  for (const std::string value : {"", "0", "-1", "2.5", "2147483648", "two", "2 "}) {
    EXPECT_EQ(rejection(("CHORUS_NODE_RANKS=" + value).c_str()),
              "environment variable CHORUS_NODE_RANKS=" + value + ": expected a number of ranks, 1 or more");
  }
}

TEST(Settings, RejectWhatDividesNoNode) {
  for (const std::string value : {"", "8", "8x", "x8", "8x4x", "8x1", "8x-4", "2X2", "2x2x2x2x2x2", "1024x1025"}) {
    EXPECT_EQ(rejection(("CHORUS_DOMAINS=" + value).c_str()),
              "environment variable CHORUS_DOMAINS=" + value +
                  ": expected 2 to 5 numbers of 2 or more, from the inside out, such as 8x4x2");
  }
}

TEST(Settings, RejectWhatNamesNoGpus) {
  for (const std::string value : {"", "0,", ",0", "0,,1", "-1", "0, 1", "gpu0", "0x1", "0;1", "2147483648"}) {
    EXPECT_EQ(rejection(("CHORUS_GPUS=" + value).c_str()),
              "environment variable CHORUS_GPUS=" + value +
                  ": expected the number of a GPU for each rank of a node, such as 0,0,1,1");
  }
}

TEST(Settings, RejectUnknownWordsAndNameTheNearest) {
  EXPECT_EQ(
      rejection("CHORUS_SHARED_MEMORY=memdf"),
      "environment variable CHORUS_SHARED_MEMORY=memdf: did you mean \"memfd\"? There are auto, memfd, named, off");
  EXPECT_EQ(rejection("CHORUS_SHARED_MEMORY="),
            "environment variable CHORUS_SHARED_MEMORY=: there are auto, memfd, named, off");
  EXPECT_EQ(rejection("CHORUS_DISABLE=yes"), "environment variable CHORUS_DISABLE=yes: expected 1 or 0");
  EXPECT_EQ(rejection("CHORUS_REPORT="), "environment variable CHORUS_REPORT=: expected 1 or 0");
  EXPECT_NO_THROW(parse({"CHORUS_DISABLE=0", "CHORUS_REPORT=1"}));
  EXPECT_EQ(parse({"CHORUS_DISABLE=0"}).algorithm, Settings().algorithm);
  const Settings disabled = parse({"CHORUS_BCAST=binomial", "CHORUS_DISABLE=1"});
  EXPECT_EQ(disabled.algorithm[static_cast<std::size_t>(Collective::allreduce)], "native");
  EXPECT_EQ(disabled.algorithm[static_cast<std::size_t>(Collective::bcast)], "binomial") << "it is named";
  EXPECT_EQ(rejection("CHORUS_DETERMINISTIC=on"), "environment variable CHORUS_DETERMINISTIC=on: expected 1 or 0");
  EXPECT_EQ(rejection("CHORUS_REPRODUCIBLE="), "environment variable CHORUS_REPRODUCIBLE=: expected 1 or 0");
  EXPECT_EQ(rejection("CHORUS_LOG=debug"), "environment variable CHORUS_LOG=debug: expected info or off");
}

TEST(Settings, RejectUnknownVariablesAndNameTheNearest) {
  EXPECT_EQ(rejection("CHORUS_ALREDUCE=ring"),
            "unknown environment variable CHORUS_ALREDUCE; did you mean CHORUS_ALLREDUCE?");
  EXPECT_EQ(rejection("CHORUS_TIME_OUT=5"),
            "unknown environment variable CHORUS_TIME_OUT; did you mean CHORUS_TIMEOUT?");
  EXPECT_EQ(rejection("CHORUS_log=info"), "unknown environment variable CHORUS_log; did you mean CHORUS_LOG?");
  EXPECT_THAT(rejection("CHORUS_=1"),
              StartsWith("unknown environment variable CHORUS_; there are, each after CHORUS_: BARRIER, BCAST, "));
  EXPECT_THAT(rejection("CHORUS_MAGIC=1"), HasSubstr("; there are, each after CHORUS_: BARRIER, BCAST, "));
}

TEST(Settings, AreTheSameOnTheOtherRanks) {
  Settings settings = parse({"CHORUS_ALLREDUCE=ring", "CHORUS_TIMEOUT=0.000000001", "CHORUS_STALL_WARNING=7",
                             "CHORUS_SHARED_MEMORY=off", "CHORUS_SLOT_BYTES=128k", "CHORUS_SINGLE_COPY=0",
                             "CHORUS_NODE_RANKS=5", "CHORUS_DOMAINS=2x3", "CHORUS_LOG=info", "CHORUS_CHECK=collective",
                             "CHORUS_DETERMINISTIC=1", "CHORUS_REPRODUCIBLE=1", "CHORUS_GPUS=3,1"});
  settings.tuning = {.path = "/a",
                     .text = "{\"schema\": 1}\n\t\"\\ \xC3\xA4",
                     .installed = true,
                     .here = {.mpi = "MPI 1", .processor = "a processor", .cores = 7}};
  const Settings other = Settings::from_json(settings.to_json());
  EXPECT_EQ(other.algorithm, settings.algorithm);
  EXPECT_EQ(other.timeout, settings.timeout);
  EXPECT_EQ(other.stall_warning, settings.stall_warning);
  EXPECT_EQ(other.shared_memory, settings.shared_memory);
  EXPECT_EQ(other.slot_bytes, settings.slot_bytes);
  EXPECT_EQ(other.node_ranks, settings.node_ranks);
  EXPECT_EQ(other.domains, settings.domains);
  EXPECT_EQ(other.single_copy, settings.single_copy);
  EXPECT_EQ(other.gpus, (std::vector<int>{3, 1}));
  EXPECT_TRUE(other.compare);
  EXPECT_EQ(other.tuning, settings.tuning);
  EXPECT_EQ(other.log, settings.log);
  EXPECT_TRUE(other.deterministic);
  EXPECT_TRUE(other.reproducible);
}

TEST(Settings, TravelEvenIfTheyAreNotUtf8) {
  Settings settings = parse({"CHORUS_ALLREDUCE=ri\xFFng"});
  settings.tuning.text = "{\xC3";
  const Settings other = Settings::from_json(settings.to_json());
  EXPECT_NE(other.algorithm[static_cast<int>(Collective::allreduce)], "ring");
  EXPECT_TRUE(other.tuning.text.starts_with("{") && other.tuning.text.size() > 1) << other.tuning.text;
}

}  // namespace
}  // namespace chorus
