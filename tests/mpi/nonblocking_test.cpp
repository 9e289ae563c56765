// SPDX-License-Identifier: Apache-2.0
// Requests: several at a time, waited for in any order, polled, given up, overwritten.

#include "base/names.hpp"
#include "collectives/matrix.hpp"
#include "collectives/oracle.hpp"
#include "mpi/job.hpp"
#include "mpi/public_call.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

/// Calls that are under way together, with their buffers.
class Batch {
 public:
  explicit Batch(Communicator comm) : comm_(std::move(comm)) {}

  /// Starts one call by the library's choice.
  Request start(const Call& call) {
    calls_.emplace_back(call, comm_.size(), Placement{call.collective == Collective::bcast, 0, 0});
    buffers_.emplace_back(calls_.back(), comm_.rank());
    return test::start(comm_, calls_.back(), buffers_.back().arguments(), {});
  }
  /// One of every collective, short and long.
  std::vector<Request> start_every() {
    std::vector<Request> requests;
    for (int collective = 0; collective < even_collective_count; ++collective) {
      for (const std::size_t count : {std::size_t{3}, std::size_t{300}, std::size_t{20'000}}) {
        Call call{static_cast<Collective>(collective), DataType::int64, ReduceOp::sum, comm_.size() / 2, count};
        if (call.collective == Collective::barrier) call.count = 0;
        requests.push_back(start(call));
      }
    }
    return requests;
  }
  /// That all are complete and right.
  void check() const {
    for (const RankBuffers& buffers : buffers_) expect_result(buffers, "nonblocking");
  }

 private:
  Communicator comm_;
  std::deque<PreparedCall> calls_;
  std::deque<RankBuffers> buffers_;
};

class Requests : public testing::Test {
 protected:
  OwnedComm mpi_comm_{0, job_rank()};
  Communicator comm_ = from_mpi(mpi_comm_.get());
  Batch batch_{comm_};
};

constexpr Call sums{Collective::allreduce, DataType::float32, ReduceOp::sum, 0, 5000};

TEST_F(Requests, AreWaitedForInAnotherOrderOnEachRank) {
  for (unsigned repetition = 0; repetition < 3; ++repetition) {
    std::vector<Request> requests = batch_.start_every();
    std::mt19937 random(static_cast<unsigned>(job_rank()) + 8 * repetition);
    std::ranges::shuffle(requests, random);
    for (Request& request : requests) request.wait();
  }
  batch_.check();
}

TEST_F(Requests, ArePolled) {
  std::vector<Request> requests = batch_.start_every();
  std::size_t complete = 0;
  while (complete < requests.size()) {
    complete = 0;
    for (Request& request : requests) complete += request.test() ? 1U : 0U;
  }
  EXPECT_TRUE(requests.front().test());
  batch_.check();
}

TEST_F(Requests, AreNotCompleteBeforeTheLastRankHasCalled) {
  const bool late = job_rank() == job_size() - 1;
  barrier(comm_);
  if (late) std::this_thread::sleep_for(200ms);
  Request request = batch_.start(sums);
  if (!late) {
    EXPECT_FALSE(request.test());
  }
  request.wait();
  batch_.check();
}

/// The others make it when theirs are complete.
TEST_F(Requests, MoveOnWhileTheirRankMakesACommunicator) {
  const OwnedComm another(0, job_rank());
  std::vector<Request> requests = batch_.start_every();
  const bool before = job_rank() % 2 == 1;
  if (before) wait_all(requests);
  const Communicator made = from_mpi(another.get());
  if (!before) wait_all(requests);
  barrier(made);
  batch_.check();
}

TEST_F(Requests, FinishWhenTheyAreDestroyed) {
  for (int repetition = 0; repetition < 5; ++repetition) {
    const std::vector<Request> given_up = batch_.start_every();
  }
  batch_.check();
}

TEST_F(Requests, FinishWhenTheyAreOverwritten) {
  Request request = batch_.start(sums);
  request = batch_.start(sums);
  request = Request();
  batch_.check();
  EXPECT_TRUE(request.test());
  request.wait();
}

/// Ends each of `requests` in a way of this rank's own.
void end_in_any_way(std::vector<Request> requests, std::mt19937& random) {
  std::ranges::shuffle(requests, random);
  for (Request& request : requests) {
    switch (random() % 3) {
      case 0:
        request.wait();
        break;
      case 1:
        while (!request.test()) {
        }
        break;
      default:
        break;  // its destructor waits
    }
  }
}

TEST_F(Requests, ThatFindNothingElseUnderWayEndInAnyWay) {
  std::mt19937 common(1);
  std::mt19937 own(100 + static_cast<unsigned>(job_rank()));
  barrier(comm_);
  for (int repetition = 0; repetition < 600; ++repetition) {
    constexpr std::size_t counts[] = {0, 1, 5, 7, 100, 900};
    Call call{static_cast<Collective>(common() % even_collective_count), DataType::int64, ReduceOp::sum};
    call.root = static_cast<int>(common() % static_cast<unsigned>(comm_.size()));
    call.count = call.collective == Collective::barrier ? 0 : counts[common() % std::size(counts)];
    std::vector<Request> requests;
    requests.push_back(batch_.start(call));
    const unsigned next = common() % 4;
    if (next == 0) requests.push_back(batch_.start(call));
    if (next == 1) {
      EXPECT_EQ(allreduce(comm_, 1, ReduceOp::sum), comm_.size());
    }
    if (next == 2) {
      EXPECT_EQ(comm_.dup().size(), comm_.size());
    }
    end_in_any_way(std::move(requests), own);
  }
  batch_.check();
}

TEST_F(Requests, RunBeforeALaterBlockingCall) {
  const std::vector<Request> requests = batch_.start_every();
  EXPECT_EQ(allreduce(comm_, 1, ReduceOp::sum), comm_.size());
  batch_.check();
}

TEST_F(Requests, OfTwoCommunicatorsMayBeWaitedForCrosswise) {
  const OwnedComm other_mpi_comm(0, -job_rank());
  const Communicator other = from_mpi(other_mpi_comm.get());
  Batch other_batch(other);
  std::vector<Request> here = batch_.start_every();
  std::vector<Request> there = other_batch.start_every();
  if (job_rank() % 2 == 0) std::swap(here, there);
  for (Request& request : here) request.wait();
  for (Request& request : there) request.wait();
  batch_.check();
  other_batch.check();
}

TEST_F(Requests, MoveOnInsideCallsOnOtherCommunicators) {
  const OwnedComm other_mpi_comm(0, job_rank());
  const Communicator other = from_mpi(other_mpi_comm.get());
  Request request = batch_.start(sums);
  const auto limit = std::chrono::steady_clock::now() + 30s;
  bool everybody_has_it = false;
  while (!everybody_has_it && std::chrono::steady_clock::now() < limit) {
    everybody_has_it = allreduce(other, request.test() ? 1 : 0, ReduceOp::min) != 0;
  }
  EXPECT_TRUE(everybody_has_it);
  batch_.check();
}

}  // namespace
}  // namespace chorus::test
