// SPDX-License-Identifier: Apache-2.0
// A job of which the last rank stops in the middle. Each other rank prints what its next call said and after what time.
//   lost_rank killed|stopped

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Prints how the call that the last rank never makes ends.
void report(const chorus::Communicator& comm) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<double> data(1000, 1);
  std::string text = "no error";
  try {
    chorus::allreduce(comm, data, chorus::ReduceOp::sum);
  } catch (const chorus::Error& error) {
    text = std::string(chorus::name(error.code())) + ": " + error.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("rank %d after %.2f s: %s\n", comm.rank(), took.count(), text.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool killed = argc > 1 && std::string_view(argv[1]) == "killed";
  const chorus::Communicator comm = chorus::Communicator::world();
  const int last = comm.size() - 1;
  int process = getpid();
  chorus::bcast(comm, std::span<int>(&process, 1), last);
  chorus::barrier(comm);
  if (comm.rank() == 0) std::printf("the last rank is pid %d\n", process);
  if (comm.rank() == last) raise(killed ? SIGKILL : SIGSTOP);
  if (!killed && comm.rank() == 0) {
    std::thread([process] {
      std::this_thread::sleep_for(1s);
      kill(process, SIGCONT);
    }).detach();
  }
  report(comm);
  if (killed) {
    std::this_thread::sleep_for(2s);  // the others are to see one rank lost
    _exit(0);                         // MPI_Finalize would wait for it
  }
  MPI_Finalize();
  return 0;
}
