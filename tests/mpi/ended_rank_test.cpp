// SPDX-License-Identifier: Apache-2.0
// A rank that ends with a communicator, in good order, while others make one call more.

#include "mpi/job.hpp"
#include "mpi/waiting.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <span>
#include <thread>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

int ending_rank() { return job_size() - 1; }

class EndedRank : public WaitingSomewhere {};

TEST_P(EndedRank, IsNotWaitedFor) {
  std::optional<Communicator> comm = from_mpi(lasting_comm());
  barrier(*comm);
  if (job_rank() == ending_rank()) {
    make_call(*comm, waiting());
    comm.reset();
  } else {
    const Outcome outcome = outcome_of([&] {
      make_call(*comm, waiting());  // in which a rank of another node may hear of it
      make_call(*comm, waiting());
    });
    expect_error(outcome, ErrorCode::mismatch,
                 {fmt::format("on rank {}", job_rank()),
                  fmt::format("rank {} does not make this call, #3 on this communicator, as it has ended with it after "
                              "#2, allreduce of {} ",
                              ending_rank(), waiting().count),
                  "all ranks must make the same calls"});
    EXPECT_LT(outcome.took.count(), soon_s);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(EndedRank, HasDoneItsPart) {
  std::optional<Communicator> comm = from_mpi(lasting_comm());
  for (int call = 0; call < 20; ++call) make_call(*comm, waiting());
  const bool root = job_rank() == ending_rank();  // which waits for nobody
  if (!root) std::this_thread::sleep_for(20ms);
  int value = root ? 5 : 0;
  bcast(*comm, std::span(&value, 1), ending_rank());
  EXPECT_EQ(value, 5);
  comm.reset();
  MPI_Barrier(MPI_COMM_WORLD);
}

// Where at least one of the others shares memory with it.
INSTANTIATE_TEST_SUITE_P(Every, EndedRank,
                         testing::Combine(testing::ValuesIn(waitings), testing::Values(placings[0], placings[1])),
                         WaitingSomewhere::name);

}  // namespace
}  // namespace chorus::test
