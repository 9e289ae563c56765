// SPDX-License-Identifier: Apache-2.0
// Checkpoints of several workers: saved by all ranks of a job, restored by other numbers of workers and replicas.
#include "core/replicas.hpp"
#include "mpi/job.hpp"
#include "multi_worker/shared_folder.hpp"

#include <chorus/allgather.hpp>
#include <chorus/barrier.hpp>
#include <chorus/interop/mpi.hpp>
#include <chorus/strategies/checkpoint_manager.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/npy.hpp>
#include <chorus/strategies/optimizers.hpp>

#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using testing::HasSubstr;

MultiWorkerMirroredStrategy workers(const Communicator& comm, int replicas) {
  return {comm, {.devices = some_devices(replicas)}};
}

/// Of one process alone the strategy that is for it.
std::unique_ptr<Strategy> workers_or_one(const Communicator& comm, int replicas) {
  if (comm.size() == 1) return std::make_unique<MirroredStrategy>(some_devices(replicas));
  return std::make_unique<MultiWorkerMirroredStrategy>(
      comm, MultiWorkerMirroredStrategy::Setup{.devices = some_devices(replicas)});
}

/// What a training has to remember.
struct Training {
  Variable<std::vector<double>> weights{{1, 2, 3}, {.name = "weights"}};
  Adam<std::vector<double>> optimizer{std::tuple(weights), {.learning_rate = 0.1}};
  Mean loss;
  std::int64_t epoch = 0;

  template <class Visit>
  void for_each_saved(Visit&& visit) {
    visit("weights", weights);
    visit("optimizer", optimizer);
    visit("loss", loss);
    visit("epoch", epoch);
  }
  /// One step, in which each replica has an equal share of the gradient, and a loss of its own.
  void step(Strategy& strategy) {
    strategy.run([&] {
      std::vector<double> gradient = weights.value();
      for (double& each : gradient) each /= strategy.num_replicas_in_sync();
      optimizer.apply_gradients({gradient});
      loss.update_state(static_cast<double>(id()));
    });
    ++epoch;
  }
};

TEST(MultiWorkerCheckpoint, Case125_IsRestoredByOtherNumbersOfWorkersAndReplicas) {
  const SharedFolder folder;
  const Communicator world = Communicator::world();
  std::vector<double> weights(3);
  std::vector<double> later(3);
  double loss = 0;
  {
    MultiWorkerMirroredStrategy strategy = workers(world, 2);
    const auto scope = strategy.scope();
    Training training;
    for (int i = 0; i < 3; ++i) training.step(strategy);
    Checkpoint{{"training", training}}.save(folder.path("saved"), 3);
    weights = training.weights.value();
    loss = training.loss.result();
    training.step(strategy);
    later = training.weights.value();
  }
  // By all with one replica each; by all with three; by every second one; by each rank for itself.
  for (const auto& [comm, replicas] :
       {std::pair(world, 1), std::pair(world, 3), std::pair(*world.split(job_rank() % 2), 2),
        std::pair(*world.split(job_rank()), 1)}) {
    SCOPED_TRACE(std::to_string(comm.size()) + " workers of " + std::to_string(replicas));
    const std::unique_ptr<Strategy> strategy = workers_or_one(comm, replicas);
    const auto scope = strategy->scope();
    Training training;
    training.weights.assign({7, 7, 7});
    EXPECT_EQ((Checkpoint{{"training", training}}.restore(folder.path("saved"))), 3);
    EXPECT_THAT(training.weights.components(), Each(weights));
    EXPECT_EQ(training.epoch, 3);
    EXPECT_EQ(training.optimizer.steps(), 3);
    EXPECT_NEAR(training.loss.result(), loss, 1e-12);
    training.step(*strategy);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(training.weights.value()[i], later[i], 1e-12);
  }
}

TEST(MultiWorkerCheckpoint, Case125_WhatSomeWorkersSaveAllRestore) {
  const SharedFolder folder;
  const bool saves = job_rank() < (job_size() + 1) / 2;  // 2 workers of 2 replicas become 4 of 1
  const Communicator half = *Communicator::world().split(saves ? 0 : 1);
  if (saves) {
    const std::unique_ptr<Strategy> strategy = workers_or_one(half, 2);
    const auto scope = strategy->scope();
    const Variable<double> v(2.5, {.name = "v"});
    Checkpoint{v}.save(folder.path("saved"));
  }
  MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 1);
  const auto scope = strategy.scope();
  const Variable<double> v(0, {.name = "v"});
  Checkpoint{v}.restore(folder.path("saved"));
  EXPECT_THAT(v.components(), Each(2.5));
}

TEST(MultiWorkerCheckpoint, Case124_SumsAreOfAllWorkersAndDividedAmongAll) {
  const SharedFolder folder;
  const VariableOptions options{
      .name = "v", .synchronization = VariableSynchronization::on_read, .aggregation = VariableAggregation::sum};
  const int total = 7 * job_size() + 1;
  {
    MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 1);
    const auto scope = strategy.scope();
    const Variable<double> v(0, options);
    v.components().front() = job_rank() == 0 ? 8 : 7;
    const Variable<int> whole(0, options);
    whole.components().front() = job_rank() == 0 ? 8 : 7;
    Checkpoint{v, {"whole", whole}}.save(folder.path("saved"));
    if (job_rank() == 0) {
      EXPECT_EQ((read_npy<double, 0>(folder.path("saved/v.npy"))), total);
    }
  }
  MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 2);
  const auto scope = strategy.scope();
  const Variable<double> v(3, options);
  const Variable<int> whole(3, options);
  Checkpoint{v, {"whole", whole}}.restore(folder.path("saved"));
  EXPECT_THAT(v.components(), Each(static_cast<double>(total) / (2 * job_size())));
  EXPECT_EQ(whole.value(), total);
  for (int i = 0; i < 2; ++i) {
    const int replica = 2 * job_rank() + i;
    const int part = total / (2 * job_size()) + (replica < total % (2 * job_size()) ? 1 : 0);
    EXPECT_EQ(whole.components()[static_cast<std::size_t>(i)], part) << "replica " << replica;
  }
}

/// Expects that all ranks get the same text of Error{code}, which contains `text`.
template <class Call>
void expect_error_everywhere(ErrorCode code, const std::string& text, const Call& call) {
  std::array<char, 1000> mine{};
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(text));
    std::string(error.what()).copy(mine.data(), mine.size() - 1);
  }
  std::vector<std::array<char, 1000>> all(static_cast<std::size_t>(job_size()));
  allgather(Communicator::world(), std::span(&mine, 1), all);
  for (const auto& other : all) EXPECT_STREQ(other.data(), mine.data());
}

TEST(MultiWorkerCheckpoint, C56_WhereTheChiefFailsAllDoAndNothingHangs) {
  const SharedFolder folder;
  MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 2);
  const auto scope = strategy.scope();
  Mean mean;
  strategy.run([&] { mean.update_state(1.0); });
  const Checkpoint checkpoint{{"mean", mean}};
  checkpoint.save(folder.path("saved"), 5);
  const auto fails = [](const std::string& text, const auto& call) {
    expect_error_everywhere(ErrorCode::invalid_argument, text, call);
  };
  fails("is there already", [&] { checkpoint.save(folder.path("saved"), 6); });
  fails("/proc/chorus cannot be made", [&] { checkpoint.save("/proc/chorus/saved"); });
  fails("index.json cannot be opened", [&] { checkpoint.restore(folder.path("other")); });
  const Variable<int> other(4, {.name = "other"});
  fails("\"other\" of the program is not there", [&] { Checkpoint{other}.restore(folder.path("saved")); });
  EXPECT_THAT(other.components(), Each(4));
  barrier(Communicator::world());
  const std::string file = folder.path("saved/mean.sum.npy");
  const std::string hidden = folder.path("saved/hidden");
  if (job_rank() == 0) std::filesystem::rename(file, hidden);
  fails("mean.sum.npy cannot be opened: No such file or directory", [&] { checkpoint.restore(folder.path("saved")); });
  EXPECT_EQ(mean.result(), 1);
  barrier(Communicator::world());
  if (job_rank() == 0) std::filesystem::rename(hidden, file);
  EXPECT_EQ(checkpoint.restore(folder.path("saved")), 5) << "the workers go on, and the earlier checkpoint is whole";
  EXPECT_EQ(mean.result(), 1);
}

/// What lies in the folder `path`, in the order of the alphabet.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST(MultiWorkerCheckpoint, Case200_OnlyTheFilesOfTheChiefStay) {
  const SharedFolder folder;
  MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 2);
  const auto scope = strategy.scope();
  const Variable<double> v(1.5, {.name = "v"});
  const Checkpoint checkpoint{v};
  expect_error_everywhere(ErrorCode::invalid_argument, "has no name of its own: give one that is to be made",
                          [&] { checkpoint.save(""); });
  checkpoint.save(folder.path("saved"), 1);
  EXPECT_THAT(names_in(folder.path("")), testing::ElementsAre("saved"));
  EXPECT_THAT(names_in(folder.path("saved")), testing::ElementsAre("index.json", "v.npy"));
}

TEST(MultiWorkerCheckpoint, C14_WorkersThatSaveDifferentThingsAreTold) {
  if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  const SharedFolder folder;
  MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 1);
  const auto scope = strategy.scope();
  const Variable<int> v(1, {.name = "v"});
  const bool last = job_rank() == job_size() - 1;
  const Checkpoint differing{{last ? "w" : "v", v}};
  const Checkpoint same{v};
  const auto differ = [](const auto& call) {
    expect_error_everywhere(ErrorCode::mismatch, "make the same calls with the same entries everywhere", call);
  };
  differ([&] { differing.save(folder.path("saved")); });
  differ([&] { same.save(folder.path("saved"), last ? 2 : 1); });
  same.save(folder.path("saved"), 1);
  differ([&] { differing.restore(folder.path("saved")); });
  EXPECT_EQ(same.restore(folder.path("saved")), 1);
}

TEST(MultiWorkerCheckpoint, WorkersWaitForTheFilesLongerThanForMessages) {
  if (job_size() != 2) GTEST_SKIP() << "takes 3 seconds: once is enough";
  const ScopedVariable timeout("CHORUS_TIMEOUT", "2");
  const SharedFolder folder;
  MultiWorkerMirroredStrategy strategy = workers(from_mpi(MPI_COMM_WORLD), 1);
  const auto scope = strategy.scope();
  const Variable<int> v(1, {.name = "v"});
  std::thread slow_disk;
  if (job_rank() == 0) {
    const std::string pipe = folder.path("saved") + "/index.json";  // opened for reading when somebody writes
    std::filesystem::create_directory(folder.path("saved"));
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    slow_disk = std::thread([pipe] {
      std::this_thread::sleep_for(std::chrono::seconds(3));
      std::ofstream(pipe).close();
    });
  }
  expect_error_everywhere(ErrorCode::invalid_argument, "index.json cannot be read",
                          [&] { Checkpoint{v}.restore(folder.path("saved")); });
  if (slow_disk.joinable()) slow_disk.join();
  Checkpoint{v}.save(folder.path("other"));
}

TEST(MultiWorkerCheckpoint, WorkersWorkOnAfterARunThatFailed) {
  const SharedFolder folder;
  MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 2);
  const auto scope = strategy.scope();
  const Variable<double> v(6, {.name = "v"});
  EXPECT_THROW(strategy.run([&] {
    if (id() == 0) throw std::runtime_error("the first one");
  }),
               std::exception);
  Checkpoint{v}.save(folder.path("saved"));
  v.assign(0);
  Checkpoint{v}.restore(folder.path("saved"));
  EXPECT_THAT(v.components(), Each(6));
}

TEST(MultiWorkerCheckpoint, ManagersAgreeOnWhatWorkerZeroSees) {
  const SharedFolder folder;
  MultiWorkerMirroredStrategy strategy = workers(Communicator::world(), 1);
  const auto scope = strategy.scope();
  std::int64_t epoch = 0;
  const Variable<double> v(0, {.name = "v"});
  // Only worker 0 has the right path: the others do not look.
  const CheckpointManager manager(Checkpoint{v, {"epoch", epoch}},
                                  job_rank() == 0 ? folder.path("all") : folder.path("nowhere"), {.max_to_keep = 2});
  EXPECT_EQ(manager.restore_latest(), std::nullopt);
  for (epoch = 1; epoch <= 4; ++epoch) {
    v.assign(static_cast<double>(epoch));
    manager.save(epoch);
  }
  EXPECT_THAT(manager.steps(), testing::ElementsAre(3, 4));
  expect_error_everywhere(ErrorCode::invalid_argument, "there is a checkpoint of step 4", [&] { manager.save(2); });
  epoch = 100 + job_rank();
  v.assign(9);
  EXPECT_EQ(manager.restore_latest(), 4);
  EXPECT_EQ(epoch, 4);
  EXPECT_EQ(v.value(), 4);
}

}  // namespace
}  // namespace chorus::test
