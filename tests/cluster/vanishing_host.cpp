// SPDX-License-Identifier: Apache-2.0
// A job of which the last rank's host vanishes in the middle of a call: its link goes down, its processes are killed,
// or both. Each other rank writes what its calls said, and after what time, into a file.
//   vanishing_host link|processes|both FOLDER

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using chorus::Communicator;
using chorus::ReduceOp;

struct Case {
  std::string_view name;
  std::function<void(const Communicator&)> call;
};

std::vector<double> data_of(const Communicator& comm) {
  return std::vector<double>(std::size_t{1000} * static_cast<std::size_t>(comm.size()), 1);
}

void poll(const Communicator& comm) {
  std::vector<double> data = data_of(comm);
  chorus::Request request = chorus::iallreduce(comm, data, ReduceOp::sum);
  while (!request.test()) std::this_thread::sleep_for(1ms);
}

/// All ranks of the job, on a communicator of MPI that gives what goes wrong back.
MPI_Comm comm_of_mpi() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/// An allreduce by `algorithm`, which the chooser chooses where it is empty.
Case allreduce_by(std::string_view name, std::string algorithm) {
  return {name, [algorithm = std::move(algorithm)](const Communicator& comm) {
            std::vector<double> data = data_of(comm);
            chorus::allreduce(comm, data, ReduceOp::sum, {.algorithm = algorithm});
          }};
}

std::vector<Case> cases() {
  return {
      allreduce_by("chosen", ""),
      allreduce_by("hierarchical", "hierarchical"),
      allreduce_by("flat", "ring"),
      {"nonblocking",
       [](const Communicator& comm) {
         std::vector<double> data = data_of(comm);
         chorus::iallreduce(comm, data, ReduceOp::sum).wait();
       }},
      {"polled", poll},
      {"alltoall",
       [](const Communicator& comm) {
         const std::vector<double> in = data_of(comm);
         std::vector<double> out(in.size());
         chorus::alltoall(comm, in, out);
       }},
      {"made", [comm = comm_of_mpi()](const Communicator& /*comm*/) { chorus::barrier(chorus::from_mpi(comm)); }},
  };
}

/// How `call` ends.
std::string outcome_of(const Case& one, const Communicator& comm) {
  const auto began = std::chrono::steady_clock::now();
  std::string text = "no error";
  try {
    one.call(comm);
  } catch (const chorus::Error& error) {
    text = std::string(chorus::name(error.code())) + ": " + error.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  return fmt::format("{} after {:.1f} s: {}\n", one.name, took.count(), text);
}

/// Whether this rank is on the host of the last one.
bool is_on_last_host(const Communicator& comm) {
  std::array<char, 64> name{};
  gethostname(name.data(), name.size() - 1);
  std::array<char, 64> of_last = name;
  chorus::bcast(comm, of_last, comm.size() - 1);
  return name == of_last;
}

/// One call after another, so that the host vanishes in the middle of one.
void go_on(const Communicator& comm) {
  std::vector<float> data(std::size_t{1} << 20U, 0);
  for (;;) chorus::allreduce(comm, data, ReduceOp::sum, {.algorithm = "lanes"});
}

/// The first rank of a host runs this, while a call is under way. First of all the launcher's process there is killed,
/// which else could tell the other hosts' of the death of a single rank before they all are dead.
void vanish(std::string_view how, const std::vector<pid_t>& ranks) {
  std::this_thread::sleep_for(300ms);
  if (how != "processes" && std::system("ip link set eth0 down") != 0) std::_Exit(2);
  std::this_thread::sleep_for(100ms);
  if (how == "link") return;
  kill(getppid(), SIGKILL);
  for (const pid_t rank : ranks) {
    if (rank != getpid()) kill(rank, SIGKILL);
  }
  raise(SIGKILL);
}

/// Those of this rank's host.
std::vector<pid_t> processes_of(const Communicator& host) {
  std::vector<pid_t> processes(static_cast<std::size_t>(host.size()));
  chorus::allgather(host, std::array{getpid()}, processes);
  return processes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string folder = argv[2];
  const chorus::Environment environment;
  raise(SIGPIPE);  // as the system does where MPI writes to a closed connection: no rank dies of it
  const Communicator world = Communicator::world();
  const std::vector<Case> all = cases();
  std::vector<Communicator> comms;
  for (const Case& one : all) {  // each has its own: a failure breaks it
    comms.push_back(world.dup());
    one.call(comms.back());
  }
  const Communicator busy = world.dup();
  const Communicator host = world.node();
  const std::vector<pid_t> ranks_of_host = processes_of(host);
  const bool vanishes = is_on_last_host(world);
  chorus::barrier(busy);
  if (vanishes) {
    if (host.rank() == 0) std::thread(vanish, std::string_view(argv[1]), ranks_of_host).detach();
    static_cast<void>(outcome_of({"running", go_on}, busy));
    for (;;) pause();
  }
  std::ofstream file(fmt::format("{}/{}", folder, world.rank()));
  file << fmt::format("rank {} ", world.rank()) << outcome_of({"running", go_on}, busy) << std::flush;
  for (std::size_t number = 0; number < all.size(); ++number) {
    file << fmt::format("rank {} ", world.rank()) << outcome_of(all[number], comms[number]) << std::flush;
  }
  return 0;
}
