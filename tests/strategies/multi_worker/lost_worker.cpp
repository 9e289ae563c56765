// SPDX-License-Identifier: Apache-2.0
// A training of several workers with two replicas each, of which the last worker is lost in the middle. Each of the
// others writes what its call said, and what the next one said, into a file: launchers lose output when a rank dies.
// STEPS are done before.
//   lost_worker killed|exited|threw|ended|unwound|killed_at_the_end|killed_outside|killed_in_input STEPS FOLDER
#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/variable.hpp>

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

std::string folder;  // set before all else

class Training {
 public:
  explicit Training(const chorus::Communicator& world)
      : strategy_(world, {.devices = chorus::shared_devices(2)}), last_(world.rank() == world.size() - 1) {}

  void step() {
    strategy_.run([&] { optimizer_.apply_gradients({std::vector<double>(1000, 1)}); });
  }
  /// The last worker's second replica is lost; all others wait for it where they are told to.
  void step_without(void (*lose)(), bool with_gradients) {
    strategy_.run([&] {
      if (last_ && chorus::get_replica_context()->local_replica() == 1) lose();
      if (with_gradients) optimizer_.apply_gradients({std::vector<double>(1000, 1)});
    });
  }
  void reduce_without(void (*lose)()) {
    const auto ones = strategy_.run([] { return 1; });
    if (last_) lose();
    std::ignore = strategy_.reduce(chorus::ReduceOp::sum, ones);
  }
  void input_without(void (*lose)()) {
    const auto batches = chorus::range(1000).map([](std::int64_t row) { return row; }).batch(10);
    int number = 0;
    for (const auto& batch : strategy_.distribute_dataset(batches, {.shard_policy = chorus::AutoShardPolicy::off})) {
      if (last_ && ++number == 3) lose();
      std::ignore = batch.global_size();
    }
  }

 private:
  chorus::MultiWorkerMirroredStrategy strategy_;
  chorus::ContextGuard scope_ = strategy_.scope();
  chorus::Variable<std::vector<double>> weights_{std::vector<double>(1000), {.name = "weights"}};
  chorus::Sgd<std::vector<double>> optimizer_{std::tuple(weights_), {.learning_rate = 0.1}};
  bool last_;
};

std::string file_of(int rank) { return folder + "/" + std::to_string(rank); }

/// Ends as a program does that has come to its end: MPI_Finalize waits for the others, who may never come to it.
void end_this() {
  int workers = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &workers);
  std::thread([others = workers - 1] {
    for (int rank = 0; rank < others; ++rank) {
      while (!std::filesystem::exists(file_of(rank))) std::this_thread::sleep_for(100ms);
    }
    std::this_thread::sleep_for(3s);
    _exit(0);
  }).detach();
  MPI_Finalize();
  _exit(0);
}
void kill_this() { raise(SIGKILL); }
void exit_this() { _exit(3); }
void throw_here() { throw std::runtime_error("the last worker has no data"); }

/// What is thrown, with its code.
std::string said(const std::function<void()>& call) {
  try {
    call();
  } catch (const chorus::Error& error) {
    return std::string(chorus::name(error.code())) + ": " + error.what();
  }
  return "no error";
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return 2;
  const std::string how = argv[1];
  const int steps_before = std::stoi(argv[2]);
  folder = argv[3];
  const chorus::Communicator world = chorus::Communicator::world();
  auto training = std::make_unique<Training>(world);
  for (int i = 0; i < steps_before; ++i) training->step();
  const bool last = world.rank() == world.size() - 1;
  if (last) std::ofstream(folder + "/pid") << getpid() << '\n';
  const std::map<std::string, std::function<void()>> calls{
      {"killed", [&] { training->step_without(kill_this, true); }},
      {"exited", [&] { training->step_without(exit_this, true); }},
      {"threw", [&] { training->reduce_without(throw_here); }},
      {"unwound", [&] { training->reduce_without(throw_here); }},
      {"ended", [&] { training->reduce_without(end_this); }},
      {"killed_at_the_end", [&] { training->step_without(kill_this, false); }},
      {"killed_outside", [&] { training->reduce_without(kill_this); }},
      {"killed_in_input", [&] { training->input_without(kill_this); }}};
  if (last && how == "unwound") {
    try {
      const std::unique_ptr<Training> left = std::move(training);
      left->reduce_without(throw_here);
    } catch (const std::exception&) {
      std::this_thread::sleep_for(3s);  // it lives on
      _exit(1);
    }
  }
  if (last) calls.at(how)();  // where it throws nobody catches it
  const std::string first = said(calls.at(how));
  const std::string next = said([&] { training->step(); });
  std::ofstream(file_of(world.rank())) << first << '\n' << next << '\n';
  std::this_thread::sleep_for(2s);  // the others are to see one worker lost
  _exit(0);                         // MPI_Finalize would wait for it
}
