// SPDX-License-Identifier: Apache-2.0
// A job of which the last rank stops in the middle. Each other rank writes what its next call said, and after what
// time, into a file: launchers lose output when a rank dies.
//   lost_rank killed|killed_while_...|killed_before_another|stopped FOLDER

#include <chorus/chorus.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

pid_t process_of_rank_1 = 0;

/// The call before which the last rank stops.
void reduce(const chorus::Communicator& comm) {
  std::vector<double> data(1000, 1);
  if (comm.rank() == 1) {  // polls
    chorus::Request request = chorus::iallreduce(comm, data, chorus::ReduceOp::sum);
    while (!request.test()) std::this_thread::sleep_for(1ms);
  } else {
    chorus::allreduce(comm, data, chorus::ReduceOp::sum);
  }
}

/// Kills the last rank in the middle of the calls that follow.
void kill_the_last(const chorus::Communicator& comm) {
  if (comm.rank() != comm.size() - 1) return;
  std::thread([] {
    std::this_thread::sleep_for(100ms);
    raise(SIGKILL);
  }).detach();
}

void gather_long_blocks(const chorus::Communicator& comm) {
  const std::vector<char> mine(std::size_t{8} << 20U);
  std::vector<char> all(mine.size() * static_cast<std::size_t>(comm.size()));
  kill_the_last(comm);
  for (;;) chorus::allgather(comm, mine, all, {.algorithm = "single_copy"});
}

/// Each rank writes what it has reduced into the memory of all others.
void reduce_long_vectors(const chorus::Communicator& comm) {
  std::vector<double> data(std::size_t{1} << 20U, 1);
  kill_the_last(comm);
  for (;;) chorus::allreduce(comm, data, chorus::ReduceOp::max, {.algorithm = "single_copy"});
}

void reduce_lent_data(const chorus::Communicator& comm) {
  std::vector<double, chorus::Allocator<double>> data(std::size_t{1} << 20U, 1);
  kill_the_last(comm);
  for (;;) chorus::allreduce(comm, data, chorus::ReduceOp::max, {.algorithm = "shared"});
}

/// Rank 1 is a call ahead of rank 0 when it finds the last rank lost, and has ended itself when rank 0 looks.
void gather_after_rank_1(const chorus::Communicator& comm) {
  if (comm.rank() == 0) {
    while (kill(process_of_rank_1, 0) == 0) std::this_thread::sleep_for(1ms);
  }
  std::vector<int> data(comm.rank() == 0 ? static_cast<std::size_t>(comm.size()) : 1);
  chorus::gather(comm, data, 0);
  chorus::barrier(comm);
}

struct Case {
  std::string_view how;
  void (*call)(const chorus::Communicator&);
};
constexpr Case calls[] = {{"killed", reduce},
                          {"killed_while_read", gather_long_blocks},
                          {"killed_while_written", reduce_long_vectors},
                          {"killed_while_lending", reduce_lent_data},
                          {"killed_before_another", gather_after_rank_1},
                          {"stopped", reduce}};

/// Writes how the calls end.
void report(const chorus::Communicator& comm, const std::string& folder, void (*call)(const chorus::Communicator&)) {
  const auto began = std::chrono::steady_clock::now();
  std::string text = "no error";
  try {
    call(comm);
  } catch (const chorus::Error& error) {
    text = std::string(chorus::name(error.code())) + ": " + error.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::ofstream(fmt::format("{}/{}", folder, comm.rank()))
      << fmt::format("rank {} after {:.2f} s: {}\n", comm.rank(), took.count(), text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const chorus::Environment environment;
  const std::string_view how = argv[1];
  const auto* const call = std::ranges::find(calls, how, &Case::how);
  if (call == std::end(calls)) return 2;
  const bool killed = how != "stopped";
  const std::string folder = argv[2];
  const chorus::Communicator comm = chorus::Communicator::world();
  const int last = comm.size() - 1;
  int process = getpid();
  chorus::bcast(comm, std::span<int>(&process, 1), last);
  process_of_rank_1 = getpid();
  chorus::bcast(comm, std::span<pid_t>(&process_of_rank_1, 1), 1);
  chorus::barrier(comm);
  if (comm.rank() == 0) std::ofstream(folder + "/pid") << process << '\n';
  if (comm.rank() == last && !how.starts_with("killed_while")) raise(killed ? SIGKILL : SIGSTOP);
  if (!killed && comm.rank() == 0) {
    std::thread([process] {
      std::this_thread::sleep_for(1s);
      kill(process, SIGCONT);
    }).detach();
  }
  report(comm, folder, call->call);
  if (killed && how != "killed_before_another") std::this_thread::sleep_for(2s);  // the others are to see one rank lost
  return 0;
}
