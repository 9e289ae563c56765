// SPDX-License-Identifier: Apache-2.0
#include "base/last_error.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_runtime.hpp"

#include <chorus/detail/launch.hpp>
#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

namespace chorus {
namespace {

const std::terminate_handler handler_of_language = std::get_terminate();  // before the program can have set one

void refuse_level() {
  throw Error(ErrorCode::not_supported,
              fmt::format("Environment on rank {}: MPI does not run with MPI_THREAD_MULTIPLE; take one that is built "
                          "with it, or start it by MPI_Init_thread with that level",
                          Environment::world_rank()));
}

/// Says why first.
void abort_job(const std::string& why) {
  fmt::print(stderr, "chorus: rank {} of MPI_COMM_WORLD: {}\n", Environment::world_rank(), why);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // launchers lose what comes at the last moment
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// For an exception that nobody catches. The words of the system and of MPI about a process that aborts are many.
void end_job() {
  const auto end = [](const char* what) {
    abort_job(fmt::format("an exception that nobody catches ends the job: {}", what));
  };
  if (MpiRuntime::runs() && std::current_exception()) {
    try {
      throw;
    } catch (const std::exception& exception) {
      end(exception.what());
    } catch (...) {
      end("one of another type than std::exception");
    }
  }
  handler_of_language();
}

}  // namespace

Environment::Environment(ThreadLevel threads) {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) {
    const detail::Launch launch = detail::Launch::of_this_process();  // MPI says no rank any more
    throw Error(ErrorCode::not_initialized,
                fmt::format("Environment{}: MPI was finalised before and cannot be started again; keep one Environment "
                            "for the whole of main",
                            launch.launcher.empty() ? "" : fmt::format(" on rank {}", launch.process)));
  }
  const bool multiple = threads == ThreadLevel::multiple;
  static std::atomic<bool> to_be_ended{false};  // started here, and no Environment lives that ends it
  int provided = 0;
  if (initialized != 0) {
    MPI_Query_thread(&provided);
  } else {
    const int wanted = multiple || MpiRuntime::wants_progress_thread() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
    check_mpi(MPI_Init_thread(nullptr, nullptr, wanted, &provided), "MPI_Init_thread");
    to_be_ended = true;
  }
  if (multiple && provided < MPI_THREAD_MULTIPLE) refuse_level();
  if (!to_be_ended.exchange(false)) return;
  process_ = getpid();
  if (std::get_terminate() == handler_of_language) std::set_terminate(end_job);
  // By TCP it may write to the connection of a peer that has died: that is to be an error, not the end of this rank.
  struct sigaction set {};
  const bool is_set =
      sigaction(SIGPIPE, nullptr, &set) != 0 || (set.sa_flags & SA_SIGINFO) != 0 || set.sa_handler != SIG_DFL;
  if (!is_set) std::signal(SIGPIPE, SIG_IGN);
}

Environment::~Environment() {
  if (process_ != getpid()) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (std::uncaught_exceptions() > 0) {  // MPI_Finalize would wait for ranks that wait for this one
    abort_job(fmt::format(
        "an exception leaves the scope of chorus::Environment, which ends the job; catch it inside that scope to go "
        "on{}{}",
        last_error().empty() ? "" : "; the last error of chorus: ", last_error()));
  }
  if (const std::string missing = MpiRuntime::missing_at_the_end(); !missing.empty()) {
    fmt::print(stderr, "chorus: rank {} of MPI_COMM_WORLD ends without MPI_Finalize, which would wait for {}\n",
               world_rank(), missing);
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
