// SPDX-License-Identifier: Apache-2.0
#include <chorus/detail/launch.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace chorus::detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// An environment in which these variables are set, and no others.
Launch::Variables environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

Launch launch(std::map<std::string, std::string> values) { return Launch::found_in(environment(std::move(values))); }

TEST(Launch, IsByWhoeverIsNearest) {
  const std::map<std::string, std::string> step = {
      {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "1"}};
  const auto in_step = [&](std::map<std::string, std::string> values) {
    values.insert(step.begin(), step.end());
    return launch(std::move(values));
  };
  EXPECT_EQ(launch(step).launcher, "srun");
  EXPECT_EQ(launch(step).processes, 2);
  EXPECT_EQ(in_step({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}).launcher, "srun");
  EXPECT_EQ(in_step({{"PMIX_RANK", "1"}}).launcher, "srun");
  const Launch hydra = in_step({{"PMI_SIZE", "4"}, {"PMI_RANK", "3"}, {"MPI_LOCALRANKID", "1"}});
  EXPECT_EQ(hydra.launcher, "mpirun of MPICH or Intel MPI");
  EXPECT_EQ(hydra.processes, 4);
  EXPECT_EQ(in_step({{"OMPI_COMM_WORLD_SIZE", "8"}, {"PMIX_RANK", "3"}}).launcher, "mpirun of Open MPI");
  EXPECT_EQ(launch({{"PMI_SIZE", "4"}}).launcher, "a launcher with PMI");
  EXPECT_EQ(launch({{"SLURM_NTASKS", "4"}, {"SLURM_STEP_ID", "0"}}).launcher, "a launcher in a Slurm job");
  EXPECT_EQ(launch({{"PMIX_RANK", "2"}}).launcher, "a launcher with PMIx");
  EXPECT_EQ(launch({}).launcher, "");
}

TEST(Launch, CountsTheProcessesOfThisHost) {
  const auto here = [](std::map<std::string, std::string> values) {
    return Launch::found_here(environment(std::move(values)));
  };
  const auto in_step = [&](const char* tasks, const char* node) {
    return here({{"SLURM_STEP_TASKS_PER_NODE", tasks}, {"SLURM_NODEID", node}});
  };
  EXPECT_EQ(here({{"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}, {"SLURM_STEP_TASKS_PER_NODE", "2"}, {"SLURM_NODEID", "0"}}), 8);
  EXPECT_EQ(here({{"MPI_LOCALNRANKS", "3"}}), 3);
  EXPECT_EQ(here({}), 0);
  EXPECT_EQ(here({{"SLURM_STEP_TASKS_PER_NODE", "2"}}), 0);
  const int tasks[] = {4, 4, 2, 1, 0};
  for (int node = 0; node < 5; ++node) EXPECT_EQ(in_step("4(x2),2,1", std::to_string(node).c_str()), tasks[node]);
  EXPECT_EQ(in_step("16", "0"), 16);
  for (const char* const odd : {"", "x", "4(", "4(x", "4(x0)", "4(xx)", "4;2", ",4", "-4", "99999999999999"}) {
    EXPECT_EQ(in_step(odd, "0"), 0) << odd;
  }
}

/// Where MPI knows of one process alone, one of several, and where of all.
void expect_mismatch(const std::map<std::string, std::string>& values, const testing::Matcher<std::string>& text) {
  SCOPED_TRACE(values.begin()->first);
  EXPECT_THAT(launch(values).mismatch(1), AllOf(text, HasSubstr("MPI knows of this one alone"), HasSubstr("pkg-config"),
                                                HasSubstr("--variable=mpi chorus")));
  EXPECT_THAT(launch(values).mismatch(4), IsEmpty());
  EXPECT_THAT(launch(values).mismatch(8), IsEmpty());  // which another launcher in between has started
}

TEST(Launch, OfProcessesThatMpiDoesNotKnowIsAMismatch) {
  expect_mismatch({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_NTASKS", "4"}},
                  AllOf(StartsWith("srun has started 4 processes (SLURM_STEP_NUM_TASKS=4), but"),
                        HasSubstr("--mpi=pmix"), HasSubstr("--mpi=list"), HasSubstr("--mpi=pmi2")));
  for (const char* started : {"SLURM_STEP_ID", "PMI_RANK"}) {
    expect_mismatch({{"SLURM_NTASKS", "4"}, {started, "0"}}, HasSubstr("4 processes (SLURM_NTASKS=4)"));
  }
  expect_mismatch({{"OMPI_COMM_WORLD_SIZE", "2"}},
                  StartsWith("mpirun of Open MPI has started 2 processes (OMPI_COMM_"));
  expect_mismatch({{"PMI_SIZE", "3"}, {"SLURM_STEP_NUM_TASKS", "3"}}, HasSubstr("(PMI_SIZE=3)"));
  expect_mismatch({{"PMIX_RANK", "1"}},
                  StartsWith("a launcher with PMIx has started at least 2 processes (PMIX_RANK=1)"));
  EXPECT_THAT(launch({{"PMI_SIZE", "4"}}).mismatch(3), HasSubstr("but MPI knows of 3 of them only: start"));
}

TEST(Launch, OfOneProcessIsNoMismatch) {
  for (const std::map<std::string, std::string>& values : {std::map<std::string, std::string>{},
                                                           {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "4"}},
                                                           {{"OMPI_COMM_WORLD_SIZE", "1"}, {"SLURM_NTASKS", "4"}},
                                                           {{"SLURM_NTASKS", "many"}, {"PMI_SIZE", ""}},
                                                           {{"PMI_SIZE", "-4"}}}) {
    EXPECT_EQ(launch(values).mismatch(1), "");
    EXPECT_EQ(launch(values).alone_in_job(1), "");
  }
}

TEST(Launch, AProgramInABatchScriptIsASingleProcess) {
  // With PMIX_RANK, which Open MPI adds when MPI starts.
  const Launch batch =
      launch({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"PMIX_RANK", "0"}});
  EXPECT_EQ(batch.launcher, "");
  EXPECT_EQ(batch.mismatch(1), "");
  EXPECT_EQ(batch.alone_in_job(1),
            "the Slurm job is for 4 processes (SLURM_NTASKS=4): start the program with srun or mpirun to use them all");
  EXPECT_EQ(batch.alone_in_job(4), "");
}

TEST(Launch, HasOneProcessThatSpeaksForAll) {
  for (const int ranks : {1, 2}) {
    EXPECT_TRUE(launch({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "0"}}).speaks(ranks));
    EXPECT_FALSE(launch({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "1"}}).speaks(ranks));
    EXPECT_TRUE(launch({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}).speaks(ranks));
    EXPECT_FALSE(launch({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}}).speaks(ranks));
    EXPECT_TRUE(launch({}).speaks(ranks));
  }
}

/// Each knows of those up to itself: the first that MPI does not know warns, once in a job.
TEST(Launch, OfProcessesThatNobodyCountsTheFirstThatMpiDoesNotKnowSpeaks) {
  constexpr int started = 4;
  for (int ranks = 1; ranks <= started + 1; ++ranks) {
    for (int process = 0; process < started; ++process) {
      const Launch one = launch({{"PMIX_RANK", std::to_string(process)}});
      EXPECT_EQ(one.mismatch(ranks).empty(), process < ranks) << process << " of " << ranks;
      EXPECT_EQ(one.speaks(ranks) && !one.mismatch(ranks).empty(), process == ranks) << process << " of " << ranks;
    }
  }
  EXPECT_THAT(launch({{"PMIX_RANK", "2"}}).mismatch(2),
              AllOf(StartsWith("a launcher with PMIx has started at least 3 processes (PMIX_RANK=2)"),
                    HasSubstr("but MPI knows of 2 of them only: start")));
}

}  // namespace
}  // namespace chorus::detail
