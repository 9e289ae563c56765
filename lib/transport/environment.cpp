// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_error.hpp"
#include "transport/mpi_runtime.hpp"

#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <exception>

namespace chorus {

Environment::Environment() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) {
    throw Error(ErrorCode::not_initialized, "Environment: MPI was finalised before and cannot be started again");
  }
  if (initialized != 0) return;
  int provided = 0;
  const int wanted = MpiRuntime::wants_progress_thread() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
  check_mpi(MPI_Init_thread(nullptr, nullptr, wanted, &provided), "MPI_Init_thread");
  owns_mpi_ = true;
  // By TCP it may write to the connection of a peer that has died: that is to be an error, not the end of this rank.
  struct sigaction set {};
  const bool is_set =
      sigaction(SIGPIPE, nullptr, &set) != 0 || (set.sa_flags & SA_SIGINFO) != 0 || set.sa_handler != SIG_DFL;
  if (!is_set) std::signal(SIGPIPE, SIG_IGN);
}

Environment::~Environment() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!owns_mpi_ || finalized != 0) return;
  if (std::uncaught_exceptions() > 0) {  // MPI_Finalize would wait for ranks that wait for this one
    fmt::print(stderr,
               "chorus: an exception leaves the scope of chorus::Environment; aborting the job. Catch it inside "
               "that scope to see what it says.\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (MpiRuntime::has_lost_peer()) {
    fmt::print(stderr,
               "chorus: rank {} of MPI_COMM_WORLD ends without MPI_Finalize, which would wait for a lost rank\n",
               world_rank());
    MpiRuntime::get("Environment").shut_down();
    return;
  }
  MPI_Finalize();
}

int Environment::world_size() noexcept {
  int size = 1;
  if (MpiRuntime::runs()) MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int Environment::world_rank() noexcept {
  int rank = 0;
  if (MpiRuntime::runs()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace chorus
