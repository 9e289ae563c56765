// SPDX-License-Identifier: Apache-2.0
#include "strategies/checkpoint/folder.hpp"
#include "strategies/core/replicas.hpp"

#include <chorus/strategies/checkpoint_manager.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Manager : public testing::Test {
 protected:
  [[nodiscard]] CheckpointManager keeping(std::size_t most) const {
    return {Checkpoint{variable}, folder, {.max_to_keep = most}};
  }
  void save(const CheckpointManager& manager, std::int64_t step) const {
    variable.assign(10 * static_cast<double>(step));
    EXPECT_EQ(manager.save(step), folder + "/step-" + std::to_string(step));
  }

  TemporaryFolder scratch;
  std::string folder = scratch.path("checkpoints");
  Variable<double> variable{0, {.name = "v"}};
};

TEST_F(Manager, KeepsTheLastAndFindsTheLatest) {
  const CheckpointManager manager = keeping(3);
  EXPECT_EQ(manager.restore_latest(), std::nullopt);
  EXPECT_EQ(manager.latest(), std::nullopt);
  EXPECT_THAT(manager.steps(), IsEmpty());
  for (const std::int64_t step : {1, 2, 9, 10, 100}) save(manager, step);
  EXPECT_THAT(names_in(folder), ElementsAre("step-10", "step-100", "step-9"));
  EXPECT_THAT(manager.steps(), ElementsAre(9, 10, 100)) << "as numbers, not as texts";
  EXPECT_EQ(manager.latest(), folder + "/step-100");
  variable.assign(0);
  EXPECT_EQ(keeping(1).restore_latest(), 100);
  EXPECT_EQ(variable.value(), 1000);
}

TEST_F(Manager, KeepsAllOrOne) {
  const CheckpointManager all = keeping(0);
  for (std::int64_t step = 0; step < 8; ++step) save(all, step);
  EXPECT_EQ(all.steps().size(), 8U);
  save(keeping(1), 8);
  EXPECT_THAT(all.steps(), ElementsAre(8));
}

TEST_F(Manager, LooksAtNothingThatIsNoCheckpoint) {
  const CheckpointManager manager = keeping(1);
  save(manager, 5);
  for (const char* const name : {"step-6", "step-07", "step--7", "step-8x", "step-", "notes", ".step-x.unfinished",
                                 ".notes.unfinished", "step-99999999999999999999"}) {
    std::filesystem::create_directory(folder + "/" + name);
  }
  overwrite(folder + "/step-07/index.json", "{}");
  EXPECT_THAT(manager.steps(), ElementsAre(5)) << "step-6 has no index";
  save(manager, 7);
  EXPECT_EQ(names_in(folder).size(), 10U) << "the user's files stay";
}

TEST_F(Manager, StepsGrow) {
  const CheckpointManager manager = keeping(3);
  save(manager, 5);
  for (const std::int64_t step : {5, 4}) {
    expect_error(ErrorCode::invalid_argument, "there is a checkpoint of step 5", [&] { manager.save(step); });
  }
  expect_error(ErrorCode::invalid_argument, "negative",
               [&] { CheckpointManager(Checkpoint{variable}, scratch.path("other")).save(-1); });
  EXPECT_THAT(names_in(folder), ElementsAre("step-5"));
}

TEST_F(Manager, AFolderThatIsAFileIsAnError) {
  overwrite(folder, "");
  expect_error(ErrorCode::invalid_argument, "checkpoints cannot be read: Not a directory",
               [&] { std::ignore = keeping(1).steps(); });
}

TEST_F(Manager, WhatIsLeftOfAKilledJobIsIgnoredAndRemoved) {
  const CheckpointManager manager = keeping(3);
  save(manager, 1);
  for (const char* const left : {".step-2.unfinished", ".step-7.unfinished"}) {
    std::filesystem::create_directory(folder + "/" + left);
    std::filesystem::copy_file(folder + "/step-1/index.json", folder + "/" + left + "/index.json");
    overwrite(folder + "/" + left + "/v.npy", "half");
  }
  EXPECT_EQ(manager.restore_latest(), 1);
  save(manager, 2);
  EXPECT_THAT(names_in(folder), ElementsAre("step-1", "step-2"));
  EXPECT_EQ(manager.restore_latest(), 2);
}

/// The last of the steps that are there; 0 where there are none, or where a job that saves replaces those that are.
std::int64_t latest_of(const CheckpointManager& manager) {
  const std::vector<std::int64_t> steps = manager.steps();
  return steps.empty() ? 0 : steps.back();
}

/// What a job does: a checkpoint of each step after `step`, in which all elements are the step. Does not return, and
/// does not outlive the test.
[[noreturn]] void save_without_end(const CheckpointManager& manager, const Variable<std::vector<double>>& large,
                                   std::int64_t step) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    for (;;) {
      large.assign(std::vector<double>(100000, static_cast<double>(++step)));
      manager.save(step);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  _exit(EXIT_FAILURE);
}

TEST_F(Manager, AJobThatIsKilledAnywhereLeavesWholeCheckpoints) {
  const Variable<std::vector<double>> large(std::vector<double>(100000), {.name = "large"});
  const CheckpointManager manager(Checkpoint{large}, folder, {.max_to_keep = 2});
  int interrupted = 0;
  for (int round = 0; round < 20; ++round) {
    const std::int64_t before = manager.restore_latest().value_or(0);
    const pid_t job = fork();
    if (job == 0) save_without_end(manager, large, before);
    while (latest_of(manager) <= before) {
      ASSERT_EQ(waitpid(job, nullptr, WNOHANG), 0) << "the job has ended";
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    kill(job, SIGKILL);
    waitpid(job, nullptr, 0);
    for (const std::string& name : names_in(folder)) interrupted += name.starts_with('.') ? 1 : 0;
    for (const std::int64_t step : manager.steps()) {
      EXPECT_EQ((Checkpoint{large}.restore(manager.step_folder(step))), step);
      EXPECT_THAT(large.value(), testing::Each(static_cast<double>(step)));
    }
    EXPECT_GE(manager.steps().size(), round == 0 ? 1U : 2U);
  }
  manager.save(manager.steps().back() + 1);
  EXPECT_EQ(names_in(folder).size(), 2U) << "what is left of all of them is removed";
  EXPECT_GT(interrupted, 0) << "no job was killed while it wrote";
}

}  // namespace
}  // namespace chorus::test
