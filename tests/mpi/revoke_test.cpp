// SPDX-License-Identifier: Apache-2.0
// A rank that gives its communicator up: the others need not wait for it.

#include "mpi/job.hpp"
#include "mpi/waiting.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

int revoker() { return job_size() - 1; }

std::string said() { return fmt::format("rank {} revoked the communicator: its disk is full", revoker()); }

class Revoked : public WaitingSomewhere {
 protected:
  static void revoke(const Communicator& comm) {
    comm.revoke("its disk is full");
    comm.revoke("and so is its memory");
    expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::broken, {"this rank has revoked it", said()});
  }
  static void expect_revoked(const Communicator& comm) {
    const Outcome outcome = outcome_of([&] { make_call(comm, waiting()); });
    expect_error(outcome, ErrorCode::revoked, {"allreduce of", fmt::format("on rank {}", comm.rank()), said()});
    EXPECT_LT(outcome.took.count(), soon_s);
    expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::broken, {"make a new one", said()});
  }

  Communicator comm_ = from_mpi(lasting_comm());
};

TEST_P(Revoked, CommunicatorsWakeThoseWhoWait) {
  const Communicator other = Communicator::world();
  barrier(comm_);
  meet_job();  // until all have left that call
  if (job_rank() == revoker()) {
    std::this_thread::sleep_for(50ms);
    revoke(comm_);
  } else {
    expect_revoked(comm_);
  }
  EXPECT_EQ(allreduce(other, 1, ReduceOp::sum), job_size()) << "the other communicator is whole";
}

TEST_P(Revoked, CommunicatorsNeverUsedBeforeWakeThoseWhoWait) {
  if (job_rank() == revoker()) {
    revoke(comm_);
  } else {
    expect_revoked(comm_);
  }
  meet_job();
}

TEST_P(Revoked, CommunicatorsTellThoseWhoComeLater) {
  barrier(comm_);
  meet_job();
  if (job_rank() == revoker()) revoke(comm_);
  meet_job();
  if (job_rank() != revoker()) expect_revoked(comm_);
  meet_job();
}

/// Rank 1 has done its part of the call that the others are in; what rank 2 waits for there does not come, and what
/// rank 0 waits for is rank 2's.
TEST(RevokedInALaterCall, CommunicatorsWakeThoseWhoWaitForOtherNodes) {
  const ScopedVariable nodes("CHORUS_NODE_RANKS", "2");
  const ScopedVariable algorithm("CHORUS_REDUCE", "hierarchical");
  const Communicator comm = from_mpi(lasting_comm());
  for (int repetition = 0; repetition < 2; ++repetition) barrier(comm);
  const std::vector<double> in(4, 1);
  std::vector<double> out(4);
  const auto call = [&] { reduce(comm, in, out, ReduceOp::sum, 0); };
  if (comm.rank() == 1) {
    call();
    const Request later = ireduce(comm, in, out, ReduceOp::sum, 0);
    comm.revoke("its disk is full");
  }
  if (comm.rank() == 0 || comm.rank() == 2) {
    expect_error(outcome_of(call), ErrorCode::revoked, {"rank 1 revoked the communicator"});
  }
  meet_job();  // rank 3 does not come to the call
}

INSTANTIATE_TEST_SUITE_P(Every, Revoked, testing::Combine(testing::ValuesIn(waitings), testing::ValuesIn(placings)),
                         WaitingSomewhere::name);

}  // namespace
}  // namespace chorus::test
