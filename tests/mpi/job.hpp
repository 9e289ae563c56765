// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worlds/outcome.hpp"
#include "worlds/scoped_variable.hpp"

#include <mpi.h>

// What tests need that run on every rank of an MPI job. Every rank runs the same tests in the same order.
namespace chorus::test {

[[nodiscard]] int job_rank();
[[nodiscard]] int job_size();

/// Waits for all ranks of the job, asleep: in MPI's own barrier they keep the cores from those they wait for.
void meet_job();

/// A test that takes longer than this ends the job; where it is a long one that gets on, it begins the time again.
inline constexpr unsigned longest_test_s = 90;
void begin_the_time_again();

/// An MPI communicator that frees itself; collective over it.
class OwnedComm {
 public:
  /// Those of the job with equal `color`, in the order of `key`.
  OwnedComm(int color, int key);
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  ~OwnedComm();
  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace chorus::test
