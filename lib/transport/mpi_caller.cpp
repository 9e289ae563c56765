// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_caller.hpp"

#include <chorus/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace chorus {
namespace {

using namespace std::chrono_literals;

constexpr auto grace = 1s;           // so that a call that can still end does so by an error
constexpr auto longest_gap = 100ms;  // between two looks: else the whole process was stopped meanwhile

}  // namespace

MpiCaller::~MpiCaller() {
  if (limit_ > 0ns) Watch::of_this_process().remove(*this);
}

void MpiCaller::watch(std::chrono::nanoseconds limit) noexcept try {
  if (limit_ > 0ns || limit <= 0ns) return;
  limit_ = limit;
  world_rank_ = Environment::world_rank();
  Watch::of_this_process().add(*this);
} catch (const std::exception&) {
  limit_ = {};
}

void MpiCaller::look(Clock::time_point now) noexcept {
  const std::uint64_t call = under_way_.load(std::memory_order_relaxed);
  stay_ = call != 0 && call == seen_ ? stay_ + std::min<Clock::duration>(now - looked_, longest_gap) : 0ns;
  seen_ = call;
  looked_ = now;
  if (stay_ <= limit_ + grace) return;
  std::fprintf(stderr,
               "chorus: rank %d of MPI_COMM_WORLD (pid %d) ends: for %.3g s MPI has not come back from a call that "
               "should not wait, so that no error can be thrown after the %.3g s that a call may take. It has likely "
               "lost its way with the connection to another rank; see what it has printed last, and start the job "
               "again\n",
               world_rank_, getpid(), std::chrono::duration<double>(stay_).count(),
               std::chrono::duration<double>(limit_).count());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace chorus
