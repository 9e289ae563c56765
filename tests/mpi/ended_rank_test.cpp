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
#include <string_view>
#include <thread>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

int ending_rank() { return job_size() - 1; }

class EndedRank : public WaitingSomewhere {
 protected:
  /// Where all do: there it is known what the last call was.
  [[nodiscard]] static bool shares_memory() { return std::string_view(placing().name) == "one_node"; }
};

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
                              "#2{}",
                              ending_rank(), shares_memory() ? fmt::format(", allreduce of {} ", waiting().count) : ""),
                  "all ranks must make the same calls"});
    EXPECT_LT(outcome.took.count(), soon_s);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// It may have failed in the first call, before anything was sent.
TEST_P(EndedRank, IsNotWaitedForInTheSetUp) {
  std::optional<Communicator> comm = from_mpi(lasting_comm());
  if (job_rank() == ending_rank()) {
    comm.reset();
  } else {
    const Outcome outcome = outcome_of([&] { make_call(*comm, waiting()); });
    expect_error(outcome, ErrorCode::mismatch,
                 {fmt::format("on rank {}", job_rank()),
                  fmt::format("rank {} does not make this call, the first on this communicator", ending_rank())});
    EXPECT_LT(outcome.took.count(), soon_s);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// All are told that, and none that another has ended.
TEST_P(EndedRank, HasHeardThatTheSetUpIsRefused) {
  for (int times = 0; times < 20; ++times) {
    const ScopedVariable wrong("CHORUS_SLOT_BYTES", "nonsense");
    std::optional<Communicator> comm = from_mpi(lasting_comm());
    const Outcome outcome = outcome_of([&] { make_call(*comm, waiting()); });
    comm.reset();
    expect_error(outcome, ErrorCode::invalid_environment, {"CHORUS_SLOT_BYTES"});
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

// The rank that hears of it waits for nobody, and ends; the one that waits for it hears it from that one.
TEST_P(EndedRank, IsHeardOfFromOthers) {
  std::optional<Communicator> comm = from_mpi(lasting_comm());
  make_call(*comm, waiting());
  const int root = 1;
  int value = 1;
  if (job_rank() == ending_rank()) comm.reset();
  MPI_Barrier(MPI_COMM_WORLD);
  if (job_rank() != ending_rank()) {
    std::this_thread::sleep_for(20ms);
    const Outcome outcome = outcome_of([&] { reduce(*comm, std::span(&value, 1), ReduceOp::sum, root); });
    if (job_rank() == root) {
      expect_error(outcome, ErrorCode::mismatch, {fmt::format("rank {} does not make this call", ending_rank())});
    }
  }
  comm.reset();
  MPI_Barrier(MPI_COMM_WORLD);
}

// Its tags are used again, and what it has said at its end is not taken for the end of a later one.
TEST_P(EndedRank, DoesNotDisturbTheNextCommunicator) {
  const Communicator world = from_mpi(lasting_comm());
  for (int times = 0; times < 20; ++times) {
    const Communicator comm = world.dup();
    for (int call = 0; call < times % 3 + 1; ++call) make_call(comm, waiting());
  }
}

INSTANTIATE_TEST_SUITE_P(Every, EndedRank, testing::Combine(testing::ValuesIn(waitings), testing::ValuesIn(placings)),
                         WaitingSomewhere::name);

}  // namespace
}  // namespace chorus::test
