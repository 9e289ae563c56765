// SPDX-License-Identifier: Apache-2.0
// A rank that does not call: the others say so, and give up where there is a time limit.

#include "mpi/job.hpp"
#include "mpi/waiting.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

constexpr auto limit = 300ms;

int missing_rank() { return job_size() - 1; }

class Deadline : public WaitingSomewhere {
 protected:
  [[nodiscard]] static bool missing() { return job_rank() == missing_rank(); }
};

TEST_P(Deadline, OfTheCallIsKeptByEveryRankThatWaits) {
  const Communicator comm = from_mpi(lasting_comm());
  barrier(comm);
  if (!missing()) {
    const Outcome outcome = outcome_of([&] { make_call(comm, waiting(), {.timeout = limit}); });
    expect_error(outcome, ErrorCode::timeout, {fmt::format("on rank {}", comm.rank()), "0.3 s", "allreduce of"});
    if (std::string_view(placing().name) == "one_node") {
      expect_error(outcome, ErrorCode::timeout, {fmt::format("rank {} (host", missing_rank())});
    }
    EXPECT_GT(outcome.took.count(), 0.27);
    EXPECT_LT(outcome.took.count(), soon_s);
    expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::broken, {"make a new one"});
  }
  meet_job();
  if (missing()) {  // comes too late, and learns it at its first or second call
    const Outcome outcome = outcome_of([&] {
      barrier(comm, {.timeout = 10s});
      barrier(comm, {.timeout = 10s});
    });
    EXPECT_TRUE(outcome.code == ErrorCode::timeout || outcome.code == ErrorCode::mismatch) << outcome.text;
    EXPECT_LT(outcome.took.count(), soon_s);
  }
}

TEST_P(Deadline, OfTheEnvironmentIsKept) {
  const ScopedVariable timeout("CHORUS_TIMEOUT", "0.3");
  const Communicator comm = from_mpi(lasting_comm());
  barrier(comm);
  if (!missing()) {
    const Outcome outcome = outcome_of([&] { make_call(comm, waiting()); });
    expect_error(outcome, ErrorCode::timeout, {fmt::format("on rank {}", comm.rank()), "0.3 s"});
    EXPECT_LT(outcome.took.count(), soon_s);
  }
  meet_job();
}

TEST_P(Deadline, OfTheEnvironmentIsKeptByTheFirstCall) {
  const ScopedVariable timeout("CHORUS_TIMEOUT", "0.8");
  const ScopedVariable warning("CHORUS_STALL_WARNING", "0.1");
  const Communicator comm = from_mpi(lasting_comm());
  if (!missing()) {
    testing::internal::CaptureStderr();
    const Outcome outcome = outcome_of([&] { make_call(comm, waiting()); });
    const std::string warned = testing::internal::GetCapturedStderr();
    expect_error(outcome, ErrorCode::timeout,
                 {fmt::format("on rank {}", comm.rank()), "0.8 s", "in the first call on this communicator",
                  "no answer from", fmt::format(" rank {} (", missing_rank())});
    EXPECT_EQ(outcome.text.find(".cpp:"), std::string::npos) << outcome.text;
    EXPECT_LT(outcome.took.count(), soon_s);
    EXPECT_NE(warned.find("has waited 0."), std::string::npos) << warned;
    EXPECT_NE(warned.find(" s in allreduce of "), std::string::npos) << warned;
    EXPECT_NE(warned.find(fmt::format(" rank {} (", missing_rank())), std::string::npos) << warned;
  }
  meet_job();
}

// As the world has told who it is.
TEST_P(Deadline, OfTheFirstCallNamesTheProcessThatIsMissing) {
  barrier(Communicator::world());
  const Communicator comm = from_mpi(lasting_comm());
  int process = getpid();
  MPI_Bcast(&process, 1, MPI_INT, missing_rank(), MPI_COMM_WORLD);
  if (!missing()) {
    const Outcome outcome = outcome_of([&] { make_call(comm, waiting(), {.timeout = limit}); });
    expect_error(outcome, ErrorCode::timeout,
                 {"in the first call on this communicator", "no answer from",
                  fmt::format(" rank {} (host ", missing_rank()), fmt::format("pid {}, state ", process)});
  }
  meet_job();
}

TEST_P(Deadline, BeforeItAWarningNamesWhoIsMissing) {
  const bool one_node = std::string_view(placing().name) == "one_node";
  if (!one_node && waiting().algorithm != "ring" && !waiting().nonblocking) return;  // may wait inside MPI
  const ScopedVariable warning("CHORUS_STALL_WARNING", "0.2");
  const Communicator comm = from_mpi(lasting_comm());
  barrier(comm);
  testing::internal::CaptureStderr();
  if (missing()) std::this_thread::sleep_for(500ms);
  make_call(comm, waiting());
  const std::string text = testing::internal::GetCapturedStderr();
  int process = getpid();
  MPI_Bcast(&process, 1, MPI_INT, missing_rank(), MPI_COMM_WORLD);
  const int warned_here = text.empty() ? 0 : 1;
  int warned = 0;
  MPI_Allreduce(&warned_here, &warned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GT(warned, 0);
  if (text.empty()) return;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << "more than one line: " << text;
  EXPECT_NE(text.find("has waited 0."), std::string::npos) << text;
  if (!one_node) return;
  EXPECT_EQ(warned, 1);
  const std::string who = fmt::format("not arrived: rank {} (host ", missing_rank());
  const std::string what = fmt::format("pid {}, state S; last call: #1 barrier)", process);
  EXPECT_NE(text.find(who), std::string::npos) << text;
  EXPECT_NE(text.find(what), std::string::npos) << text;
}

// Inside MPI, which makes the communicator, nobody would look at the clock.
TEST(DeadlineOfFromMpi, IsKeptWhereARankDoesNotCallIt) {
  const MPI_Comm comm = lasting_comm();
  const auto wait_in_vain = [comm] {
    const ScopedVariable timeout("CHORUS_TIMEOUT", "0.8");
    const ScopedVariable warning("CHORUS_STALL_WARNING", "0.1");
    testing::internal::CaptureStderr();
    const Outcome outcome = outcome_of([&] { static_cast<void>(from_mpi(comm)); });
    const std::string warned = testing::internal::GetCapturedStderr();
    expect_error(outcome, ErrorCode::timeout,
                 {fmt::format("from_mpi on rank {}: it has waited 0.8 s, its limit (CHORUS_TIMEOUT)", job_rank()),
                  "has not come to this call", "make it again"});
    EXPECT_LT(outcome.took.count(), soon_s);
    EXPECT_NE(warned.find(fmt::format("chorus: rank {} has waited 0.", job_rank())), std::string::npos) << warned;
    EXPECT_NE(warned.find(" s in from_mpi: any other rank may be the one"), std::string::npos) << warned;
  };
  const bool missing = job_rank() == missing_rank();
  if (!missing) wait_in_vain();
  meet_job();
  if (missing) wait_in_vain();  // for the others, which have given it up
  meet_job();
  const Communicator made = from_mpi(comm);  // all go on with what they have begun
  EXPECT_EQ(allreduce(made, 1, ReduceOp::sum), job_size());
}

/// The others come one after another, each within the limit after the one before.
TEST(DeadlineOfACall, IsThatOfAllThatItWaitsFor) {
  const Communicator comm = from_mpi(lasting_comm());
  barrier(comm);
  std::this_thread::sleep_for(job_rank() * 2 * limit / 3);
  const Outcome outcome = outcome_of([&] { barrier(comm, {.algorithm = "line", .timeout = limit}); });
  if (job_rank() == 0) expect_error(outcome, ErrorCode::timeout, {"rank 0 has waited 0.3 s, its limit"});
  meet_job();
}

INSTANTIATE_TEST_SUITE_P(Every, Deadline, testing::Combine(testing::ValuesIn(waitings), testing::ValuesIn(placings)),
                         WaitingSomewhere::name);

}  // namespace
}  // namespace chorus::test
