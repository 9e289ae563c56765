// SPDX-License-Identifier: Apache-2.0
#include "task/wait.hpp"
#include "transport/communicator_state.hpp"
#include "transport/shared_group.hpp"
#include "worlds/outcome.hpp"
#include "worlds/scoped_variable.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

// Communicators of threads as a program makes them: MPI is not running in this one.
namespace chorus::test {
namespace {

using namespace std::chrono_literals;

/// Runs `body` on a thread for each of `communicators` and gives how it ended, by rank.
std::vector<Outcome> run(const std::vector<Communicator>& communicators,
                         const std::function<void(const Communicator&)>& body) {
  std::vector<Outcome> outcomes(communicators.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
    threads.emplace_back([&, rank] { outcomes[rank] = outcome_of([&] { body(communicators[rank]); }); });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

void reduce_and_check(const Communicator& comm) {
  for (const std::size_t count : {1, 100, 5000}) {
    std::vector<double> values(count, comm.rank() + 1.0);
    allreduce(comm, values, ReduceOp::sum);
    ASSERT_EQ(values, std::vector<double>(count, comm.size() * (comm.size() + 1) / 2.0));
  }
}

TEST(ThreadCommunicators, HaveARankForEachThread) {
  for (const int ranks : {1, 2, 3, 6}) {
    const std::vector<Communicator> communicators = thread_communicators(ranks);
    ASSERT_EQ(communicators.size(), static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(communicators[static_cast<std::size_t>(rank)].rank(), rank);
      EXPECT_EQ(communicators[static_cast<std::size_t>(rank)].size(), ranks);
    }
    expect_success(run(communicators, reduce_and_check));
    expect_success(run(communicators, reduce_and_check));  // again, on other threads
  }
  expect_error(outcome_of([] { static_cast<void>(Communicator::world()); }), ErrorCode::not_initialized, {});
}

TEST(ThreadCommunicators, CarryOutRequestsOfEveryKind) {
  expect_success(run(thread_communicators(3), [](const Communicator& comm) {
    std::vector<int> first(2000);
    std::vector<int> second(10);
    PersistentRequest persistent = allreduce_init(comm, first, ReduceOp::sum);
    for (int round = 1; round <= 5; ++round) {
      first.assign(first.size(), round);
      second.assign(second.size(), comm.rank());
      persistent.start();
      Request request = iallreduce(comm, second, ReduceOp::max);
      while (!request.test()) std::this_thread::yield();
      persistent.wait();
      ASSERT_EQ(first, std::vector<int>(first.size(), 3 * round));
      ASSERT_EQ(second, std::vector<int>(second.size(), 2));
    }
  }));
}

TEST(ThreadCommunicators, OfOneThreadDriveEachOthersRequests) {
  const std::vector<Communicator> all = thread_communicators(3);
  const std::vector<Communicator> last_two = thread_communicators(2);
  expect_success(run(all, [&](const Communicator& comm) {
    if (comm.rank() == 0) {
      for (int round = 0; round < 20; ++round) {
        std::vector<int> values(5000, 1);
        allreduce(comm, values, ReduceOp::sum, {.algorithm = "ring", .timeout = 20s});
      }
      return;
    }
    const Communicator& pair = last_two[static_cast<std::size_t>(comm.rank() - 1)];
    for (int round = 0; round < 20; ++round) {
      std::vector<int> values(5000, 1);
      if (comm.rank() == 2) {  // its part of the request is done while it waits in the other communicator
        Request request = iallreduce(comm, values, ReduceOp::sum, {.algorithm = "ring", .timeout = 20s});
        barrier(pair, {.timeout = 20s});
        request.wait();
      } else {
        allreduce(comm, values, ReduceOp::sum, {.algorithm = "ring", .timeout = 20s});
        barrier(pair, {.timeout = 20s});
      }
      ASSERT_EQ(values, std::vector<int>(values.size(), 3));
    }
  }));
}

TEST(ThreadCommunicators, WaitByTheCoresTheirThreadsMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one_core;
  CPU_ZERO(&one_core);
  CPU_SET(first, &one_core);
  sched_setaffinity(0, sizeof one_core, &one_core);
  const std::vector<Communicator> on_one_core = thread_communicators(2);
  expect_success(run(on_one_core, reduce_and_check));
  sched_setaffinity(0, sizeof before, &before);
  for (const Communicator& comm : on_one_core) {
    EXPECT_TRUE(comm.state().policy().oversubscribed());
    EXPECT_TRUE(comm.state().crowded());
  }
  const std::vector<Communicator> alone = thread_communicators(1);
  expect_success(run(alone, reduce_and_check));
  EXPECT_FALSE(alone[0].state().policy().oversubscribed());
}

TEST(ThreadCommunicators, AreForNoFewerThanOneThread) {
  for (const int ranks : {0, -3}) {
    expect_error(outcome_of([&] { static_cast<void>(thread_communicators(ranks)); }), ErrorCode::invalid_argument,
                 {"thread_communicators: argument ranks is " + std::to_string(ranks), "1 or more"});
  }
}

TEST(ThreadCommunicators, HaveNoNativeAlgorithmAndCannotBeDivided) {
  expect_success(run(thread_communicators(2), [](const Communicator& comm) {
    expect_error(outcome_of([&] { barrier(comm, {.algorithm = "native"}); }), ErrorCode::not_supported, {"native"});
    expect_error(outcome_of([&] { static_cast<void>(comm.split(0)); }), ErrorCode::not_supported,
                 {"split on rank", "thread_communicators"});
    expect_error(outcome_of([&] { static_cast<void>(comm.dup()); }), ErrorCode::not_supported, {"dup on rank"});
    reduce_and_check(comm);
  }));
}

TEST(ThreadCommunicatorsEnvironment, IsThatOfTheProcess) {
  const ScopedVariable deterministic("CHORUS_DETERMINISTIC", "1");
  const ScopedVariable slot("CHORUS_SLOT_BYTES", "4k");
  const ScopedVariable copy("CHORUS_SINGLE_COPY", "0");
  const ScopedVariable domains("CHORUS_DOMAINS", "2x2");
  const std::vector<Communicator> communicators = thread_communicators(4);
  expect_success(run(communicators, reduce_and_check));
  EXPECT_TRUE(communicators[3].state().settings().deterministic);
  const SharedGroup& memory = *communicators[3].state().transport().shared();
  EXPECT_EQ(memory.slot_bytes(), 4096U);
  EXPECT_FALSE(memory.reads());
  EXPECT_EQ(memory.shape().radices().levels, 2);
}

TEST(ThreadCommunicatorsEnvironment, MayPretendNodes) {
  {
    const ScopedVariable nodes("CHORUS_NODE_RANKS", "2");
    const std::vector<Communicator> communicators = thread_communicators(5);
    expect_success(run(communicators, reduce_and_check));
    EXPECT_EQ(communicators[4].state().transport().nodes(), (std::vector<int>{0, 0, 1, 1, 2}));
  }
  const ScopedVariable off("CHORUS_SHARED_MEMORY", "off");
  const std::vector<Communicator> communicators = thread_communicators(3);
  expect_success(run(communicators, reduce_and_check));
  EXPECT_EQ(communicators[0].state().transport().node_memory(), nullptr);
}

TEST(ThreadCommunicatorsEnvironment, LimitsTheWaitAndWarnsBefore) {
  const ScopedVariable timeout("CHORUS_TIMEOUT", "0.4");
  const ScopedVariable warning("CHORUS_STALL_WARNING", "0.2");
  testing::internal::CaptureStderr();
  const std::vector<Outcome> outcomes = run(thread_communicators(3), [](const Communicator& comm) {
    barrier(comm);
    if (comm.rank() != 1) barrier(comm);
  });
  const std::string warned = testing::internal::GetCapturedStderr();
  for (const std::size_t rank : {0, 2}) {
    expect_error(outcomes[rank], ErrorCode::timeout, {"has waited 0.4", "rank 1 (thread 1 of this process"});
  }
  EXPECT_NE(warned.find("rank 0 has waited 0."), std::string::npos) << warned;
}

TEST(ThreadCommunicatorsEnvironment, ThatIsWrongIsSaidBeforeTheyAreMade) {
  const auto make = [] { static_cast<void>(thread_communicators(2)); };
  {
    const ScopedVariable timeout("CHORUS_TIMEOUT", "soon");
    expect_error(outcome_of(make), ErrorCode::invalid_environment, {"thread_communicators: ", "CHORUS_TIMEOUT=soon"});
  }
  {
    const ScopedVariable file("CHORUS_TUNING_FILE", "/no/such/file");
    expect_error(outcome_of(make), ErrorCode::invalid_environment, {"CHORUS_TUNING_FILE=/no/such/file"});
  }
  const ScopedVariable algorithm("CHORUS_ALLREDUCE", "rign");
  for (const Outcome& outcome : run(thread_communicators(2), reduce_and_check)) {
    expect_error(outcome, ErrorCode::invalid_environment, {"rign", "ring"});
  }
}

}  // namespace
}  // namespace chorus::test
