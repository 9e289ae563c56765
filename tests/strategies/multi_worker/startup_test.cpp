// SPDX-License-Identifier: Apache-2.0
// How a strategy begins: what is said, what is refused, and how long a worker waits.
#include "core/replicas.hpp"
#include "multi_worker/multi_worker.hpp"

#include <chorus/barrier.hpp>
#include <chorus/interop/mpi.hpp>
#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/environment_variables.hpp>
#include <chorus/strategies/mpi_cluster_resolver.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/one_device_strategy.hpp>
#include <chorus/strategies/startup_line.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace chorus::test {
namespace {

/// As srun does where it does not find the MPI library of the program.
TEST(Startup, RanksThatMpiDoesNotKnowAreAnError) {
  const Communicator world = Communicator::world();
  const MpiClusterResolver resolver(world);
  const EnvironmentVariables of_srun = [](const std::string& name) {
    return name == "SLURM_STEP_NUM_TASKS" ? std::optional<std::string>("4") : std::nullopt;
  };
  const auto starts = [&] { return startup_line("mirrored", resolver, world, 1, of_srun); };
  if (job_size() > 1) {
    EXPECT_NE(starts(), "");
  } else {
    expect_error(ErrorCode::invalid_environment, "srun has started 4 processes", [&] { std::ignore = starts(); });
  }
}

TEST(Startup, AStrategyOfOneProcessSaysThatEachRankComputesAlone) {
  const auto expect_said = [](const std::string& name, const auto& make) {
    testing::internal::CaptureStderr();
    std::ignore = make();
    const std::string said = testing::internal::GetCapturedStderr();
    if (job_size() == 1 || job_rank() != 0) {
      EXPECT_EQ(said, "");
    } else {
      EXPECT_THAT(said, testing::HasSubstr(name + ": a strategy of one process, and there are " +
                                           std::to_string(job_size()) + " ranks of MPI: each that has one computes"));
    }
  };
  for (const int devices : {1, 2}) {  // the launcher may have bound each rank to one core
    expect_said("mirrored", [&] { return MirroredStrategy(shared_devices(devices)); });
    expect_said("central storage", [&] { return CentralStorageStrategy(shared_devices(devices)); });
  }
  expect_said("one device", [&] { return OneDeviceStrategy(local_devices().front()); });
}

/// That the others are told after a short time where the last rank makes no strategy, but calls `last`.
void expect_short_start(bool set_up, const std::function<void(const Communicator&)>& last, const std::string& text) {
  const OwnedComm all(0, job_rank());  // which MPI's own barrier may be left in the middle of
  const Communicator ranks = from_mpi(all.get());
  if (set_up) barrier(ranks);
  const bool is_last = job_rank() == job_size() - 1;
  const Outcome outcome = outcome_of([&] {
    if (is_last) return last(ranks);
    MultiWorkerMirroredStrategy(
        ranks, {.devices = some_devices(2), .communication_options = {.timeout = std::chrono::milliseconds(300)}});
  });
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_last) return;
  EXPECT_EQ(outcome.code, ErrorCode::timeout) << outcome.text;
  EXPECT_THAT(outcome.text, testing::HasSubstr(text));
}

TEST(Startup, WaitsNoLongerForAWorkerThanItsTimeout) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const auto nothing = [](const Communicator& /*ranks*/) {};
  expect_short_start(true, nothing, "MultiWorkerMirroredStrategy");
  expect_short_start(false, nothing, "has waited 0.3");
}

TEST(Startup, WhatOneWorkerCannotBeMadeOfIsToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const Communicator& world = Communicator::world();
  const Device one = some_devices(1).front();
  const auto expect_told = [&](ErrorCode code, const std::string& text, MultiWorkerMirroredStrategy::Setup wrong) {
    const bool is_last = job_rank() == job_size() - 1;
    testing::internal::CaptureStderr();
    const Outcome outcome = outcome_of([&] {
      MultiWorkerMirroredStrategy::Setup right{.devices = some_devices(2)};
      MultiWorkerMirroredStrategy(world, is_last ? std::move(wrong) : std::move(right));
    });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "no line says that all is well";
    EXPECT_EQ(outcome.code, is_last ? code : ErrorCode::invalid_argument) << outcome.text;
    const std::string who = is_last ? "" : "on rank " + std::to_string(job_size() - 1) + ": ";
    EXPECT_THAT(outcome.text, testing::HasSubstr(who + text));
    MultiWorkerMirroredStrategy several(world, {.devices = some_devices(2)});
    expect_works(several);
  };
  const Device none(Device::Kind::cpu, 999, {999});
  const CommunicationOptions negative{.timeout = std::chrono::seconds(-1)};
  expect_told(ErrorCode::invalid_argument, "multi-worker mirrored strategy: device " + one.name() + " is named twice",
              {.devices = {one, one}});
  expect_told(ErrorCode::invalid_argument, "ThreadBinding", {.devices = {one, none}});
  expect_told(ErrorCode::invalid_argument, "CommunicationOptions::timeout is negative",
              {.devices = some_devices(2), .communication_options = negative});
}

TEST(Startup, AWorkerWhoseThreadsDoNotStartIsToldToTheOthers) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const Communicator& world = Communicator::world();
  const bool is_last = job_rank() == job_size() - 1;
  const std::string text = is_last ? "strategy: the system starts no thread for replica 1 of 2"
                                   : "strategy: worker " + std::to_string(job_size() - 1) + " could not start";
  expect_error(ErrorCode::transport, text, [&] {
    std::optional<NoThreads> none;
    if (is_last) none.emplace();
    MultiWorkerMirroredStrategy(world, {.devices = some_devices(2)});
  });
  MultiWorkerMirroredStrategy several(world, {.devices = some_devices(2)});
  expect_works(several);
}

TEST(Startup, AWrongVariableOfTheEnvironmentIsSaidByTheConstructor) {
  const ScopedVariable memory("CHORUS_SHARED_MEMORY", "on");
  const OwnedComm all(0, job_rank());
  const Communicator ranks = from_mpi(all.get());
  expect_error(ErrorCode::invalid_environment, "CHORUS_SHARED_MEMORY=on: there are auto, memfd, named, off",
               [&] { MultiWorkerMirroredStrategy strategy(ranks); });
  for (const int replicas : {1, 2}) {
    expect_error(ErrorCode::invalid_environment, "CHORUS_SHARED_MEMORY=on",
                 [&] { MirroredStrategy strategy(some_devices(replicas)); });
  }
}

}  // namespace
}  // namespace chorus::test
