// SPDX-License-Identifier: Apache-2.0
#include "transport/communicator_state.hpp"
#include "transport/shared_group.hpp"
#include "worlds/outcome.hpp"
#include "worlds/scoped_variable.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

// A rank that gives a communicator of threads up, from outside its collectives.
namespace chorus::test {
namespace {

using namespace std::chrono_literals;

constexpr int ranks = 4;
constexpr int revoker = 2;
constexpr double latest_s = 2;
const std::string said = "rank 2 revoked the communicator: no more data";

void run(const std::vector<Communicator>& communicators, const std::function<void(const Communicator&)>& body) {
  std::vector<std::thread> threads;
  for (const Communicator& communicator : communicators) threads.emplace_back([&] { body(communicator); });
  for (std::thread& thread : threads) thread.join();
}

/// Where all threads meet outside chorus: a rank that is still in a call learns in it that another has revoked.
using Meeting = std::barrier<>;

void expect_revoked_here(const Communicator& comm) {
  const Outcome later = outcome_of([&] { barrier(comm); });
  expect_error(later, ErrorCode::broken, {"barrier on rank 2", "this rank has revoked it; make a new one", said});
  EXPECT_LT(later.took, 100ms);
}

/// What the others wait in.
struct Waiting {
  const char* name;
  std::string_view algorithm;
  std::size_t count;
  bool request = false;
};
constexpr Waiting waitings[] = {
    {"short", "", 1}, {"long", "", 100'000}, {"ring", "ring", 1000}, {"request", "", 1000, true}};

/// Which ranks share memory.
struct Placing {
  const char* name;
  const char* node_ranks;
  const char* shared_memory;
};
constexpr Placing placings[] = {
    {"one_node", "100", "auto"}, {"nodes_of_2", "2", "auto"}, {"no_shared_memory", "100", "off"}};

class RevokedThreads : public testing::TestWithParam<std::tuple<Waiting, Placing>> {
 protected:
  [[nodiscard]] static const Placing& placing() { return std::get<1>(GetParam()); }

  static void wait_in_call(const Communicator& comm) {
    const Waiting& waiting = std::get<0>(GetParam());
    std::vector<float> values(waiting.count);
    if (waiting.request) {
      iallreduce(comm, values, ReduceOp::sum, {.algorithm = waiting.algorithm}).wait();
    } else {
      allreduce(comm, values, ReduceOp::sum, {.algorithm = waiting.algorithm});
    }
  }

  ScopedVariable node_ranks_{"CHORUS_NODE_RANKS", placing().node_ranks};
  ScopedVariable shared_memory_{"CHORUS_SHARED_MEMORY", placing().shared_memory};
  std::vector<Communicator> communicators_ = thread_communicators(ranks);
};

TEST_P(RevokedThreads, WakeWhereTheyWait) {
  Meeting meeting(ranks);
  run(communicators_, [&](const Communicator& comm) {
    barrier(comm);
    meeting.arrive_and_wait();
    if (comm.rank() == revoker) {
      std::this_thread::sleep_for(50ms);
      comm.revoke("no more data");
      comm.revoke("and no more to say");
      return expect_revoked_here(comm);
    }
    const Outcome outcome = outcome_of([&] { wait_in_call(comm); });
    expect_error(outcome, ErrorCode::revoked, {"allreduce of", "on rank " + std::to_string(comm.rank()), said});
    EXPECT_LT(outcome.took.count(), latest_s);
    expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::broken, {"an earlier call failed", said});
    comm.revoke("it is broken already");
  });
}

TEST_P(RevokedThreads, HearOfItInTheFirstCall) {
  run(communicators_, [](const Communicator& comm) {
    if (comm.rank() == revoker) {
      comm.revoke("no more data");
      return expect_revoked_here(comm);
    }
    expect_error(outcome_of([&] { wait_in_call(comm); }), ErrorCode::revoked, {said});
  });
}

INSTANTIATE_TEST_SUITE_P(Every, RevokedThreads,
                         testing::Combine(testing::ValuesIn(waitings), testing::ValuesIn(placings)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_on_" + std::get<1>(info.param).name;
                         });

TEST(Revoke, EndsTheRanksOwnRequests) {
  Meeting meeting(ranks);
  run(thread_communicators(ranks), [&](const Communicator& comm) {
    barrier(comm);
    meeting.arrive_and_wait();
    std::vector<int> values(5000);
    const CollectiveOptions ring{.algorithm = "ring"};
    if (comm.rank() != revoker) {
      meeting.arrive_and_wait();  // they come later
      return expect_error(outcome_of([&] { allreduce(comm, values, ReduceOp::sum, ring); }), ErrorCode::revoked,
                          {said});
    }
    Request parked = iallreduce(comm, values, ReduceOp::sum, ring);
    Request behind = ibarrier(comm);
    PersistentRequest persistent = allreduce_init(comm, values, ReduceOp::sum);
    comm.revoke("no more data");
    expect_error(outcome_of([&] { parked.wait(); }), ErrorCode::revoked, {"allreduce of 5000 int32", said});
    expect_error(outcome_of([&] { static_cast<void>(behind.test()); }), ErrorCode::revoked, {said});
    expect_error(outcome_of([&] { persistent.start(); }), ErrorCode::broken, {"make a new one"});
    expect_revoked_here(comm);
    meeting.arrive_and_wait();
  });
}

TEST(Revoke, EndsARequestThatHasGivenItsData) {
  const std::vector<Communicator> communicators = thread_communicators(ranks);
  run(communicators, [](const Communicator& comm) { barrier(comm); });
  Request given = ibarrier(communicators[revoker]);
  communicators[revoker].revoke("no more data");
  expect_error(outcome_of([&] { given.wait(); }), ErrorCode::revoked, {"barrier on rank 2", said});
}

TEST(Revoke, LeavesOtherCommunicatorsAlone) {
  const std::vector<Communicator> others = thread_communicators(ranks);
  std::atomic<bool> revoked{false};
  Meeting meeting(ranks);
  run(thread_communicators(ranks), [&](const Communicator& comm) {
    const Communicator& other = others[static_cast<std::size_t>(comm.rank())];
    barrier(comm);
    meeting.arrive_and_wait();
    std::thread busy([&] {  // in a call on another communicator, while this one is revoked
      while (allreduce(other, revoked ? 0 : 1, ReduceOp::max) == 1) std::this_thread::yield();
    });
    if (comm.rank() == revoker) {
      comm.revoke("no more data");
    } else {
      expect_error(outcome_of([&] { barrier(comm); }), ErrorCode::revoked, {said});
    }
    revoked = true;
    busy.join();
  });
}

TEST(Revoke, IsRefusedWhileAnotherThreadIsInside) {
  const std::vector<Communicator> communicators = thread_communicators(2);
  std::atomic<bool> refused{false};
  run(communicators, [&](const Communicator& comm) {
    barrier(comm);
    if (comm.rank() == 1) {
      while (!refused) std::this_thread::yield();
      return barrier(comm);
    }
    std::thread inside([&] { barrier(comm); });
    const SharedGroup& memory = *comm.state().transport().node_memory();
    while (memory.recorded(0)->number < 2) std::this_thread::yield();
    expect_error(outcome_of([&] { comm.revoke("no more data"); }), ErrorCode::invalid_argument,
                 {"revoke on rank 0: another thread is inside this communicator"});
    refused = true;
    inside.join();
  });
  run(communicators, [](const Communicator& comm) { EXPECT_EQ(allreduce(comm, 1, ReduceOp::sum), 2); });
}

TEST(Revoke, WantsAReason) {
  const std::vector<Communicator> communicators = thread_communicators(1);
  expect_error(outcome_of([&] { communicators[0].revoke(""); }), ErrorCode::invalid_argument,
               {"revoke on rank 0: argument why is empty"});
  barrier(communicators[0]);
}

}  // namespace
}  // namespace chorus::test
