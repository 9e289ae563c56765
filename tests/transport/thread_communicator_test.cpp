// SPDX-License-Identifier: Apache-2.0
#include "transport/communicator_state.hpp"
#include "transport/shared_group.hpp"
#include "transport/threads.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

// The public calls on communicators whose ranks are threads.
namespace chorus::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Runs `body` with every rank's communicator, which lasts until all have ended, and gives how it ended, by rank.
std::vector<Outcome> run(ThreadWorld& world, const std::function<void(const Communicator&)>& body) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(world.ranks()));
  std::vector<std::optional<Communicator>> communicators(outcomes.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world.ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      const Communicator& communicator =
          communicators[static_cast<std::size_t>(rank)].emplace(world.communicator(rank));
      outcomes[static_cast<std::size_t>(rank)] = outcome_of([&] { body(communicator); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

class ThreadCommunicator : public testing::TestWithParam<std::vector<int>> {
 protected:
  ThreadCommunicator() : world_({.ranks = 4, .nodes = GetParam(), .slot_bytes = 1024}) {}
  ThreadWorld world_;
};

TEST_P(ThreadCommunicator, CarriesOutEveryCollective) {
  expect_success(run(world_, [](const Communicator& communicator) {
    const int me = communicator.rank();
    for (const std::size_t count : {1, 10, 5000}) {
      barrier(communicator);
      std::vector<int> mine(count, me + 1);
      std::vector<int> sum(count);
      allreduce(communicator, mine, sum, ReduceOp::sum);
      ASSERT_EQ(sum, std::vector<int>(count, 10));
      std::vector<int> all(count * 4);
      allgather(communicator, mine, all);
      ASSERT_EQ(all[3 * count], 4);
      std::vector<int> block(count);
      reduce_scatter_block(communicator, all, block, ReduceOp::max);
      ASSERT_EQ(block, std::vector<int>(count, me + 1));
      std::vector<int> data(count, me);
      bcast(communicator, data, 2);
      ASSERT_EQ(data, std::vector<int>(count, 2));
      reduce(communicator, data, ReduceOp::product, 3);
      ASSERT_EQ(data, std::vector<int>(count, me == 3 ? 16 : 2));
      std::vector<int> dealt(count * 4, me);
      alltoall(communicator, dealt);
      ASSERT_EQ(dealt[3 * count], 3);
      gather(communicator, mine, all, 1);
      ASSERT_EQ(all[2 * count], 3);
      scatter(communicator, all, block, 1);
      ASSERT_EQ(block, std::vector<int>(count, me + 1));
      scan(communicator, mine, sum, ReduceOp::sum);
      ASSERT_EQ(sum, std::vector<int>(count, (me + 1) * (me + 2) / 2));
      exscan(communicator, mine, sum, ReduceOp::sum);
      ASSERT_EQ(sum, std::vector<int>(count, me == 0 ? 1 : me * (me + 1) / 2));
    }
  }));
}

TEST_P(ThreadCommunicator, RunsNonblockingCallsSideBySide) {
  expect_success(run(world_, [](const Communicator& communicator) {
    constexpr int calls = 5;
    std::vector<std::vector<double>> values(calls, std::vector<double>(700, communicator.rank()));
    std::vector<Request> requests;
    for (std::vector<double>& inout : values) requests.push_back(iallreduce(communicator, inout, ReduceOp::sum));
    ASSERT_EQ(allreduce(communicator, 1, ReduceOp::sum), 4);  // a blocking one between them
    for (int call = calls - 1; call >= 0; --call) requests[static_cast<std::size_t>(call)].wait();
    for (const std::vector<double>& result : values) ASSERT_EQ(result, std::vector<double>(700, 6));
    Request polled = ibarrier(communicator);
    while (!polled.test()) std::this_thread::yield();
  }));
}

TEST_P(ThreadCommunicator, StaysWholeAfterAWrongArgument) {
  expect_success(run(world_, [](const Communicator& communicator) {
    std::vector<int> in(3);
    std::vector<int> out(4);
    EXPECT_EQ(outcome_of([&] { allreduce(communicator, in, out, ReduceOp::sum); }).code, ErrorCode::invalid_argument);
    EXPECT_EQ(outcome_of([&] { bcast(communicator, in, 4); }).code, ErrorCode::invalid_argument);
    EXPECT_EQ(allreduce(communicator, 2, ReduceOp::sum), 8);
  }));
}

TEST_P(ThreadCommunicator, GivesUpWhereARankDoesNotCome) {
  const auto outcomes = run(world_, [](const Communicator& communicator) {
    barrier(communicator);
    if (communicator.rank() == 3) return;
    EXPECT_TRUE(outcome_of([&] { barrier(communicator, {.timeout = 200ms}); }).code);
    EXPECT_EQ(outcome_of([&] { barrier(communicator); }).code, ErrorCode::broken);
    barrier(communicator);
  });
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_EQ(outcomes[rank].code, ErrorCode::broken);
  EXPECT_THAT(outcomes[0].text, HasSubstr("has waited 0.2 s"));
}

TEST_P(ThreadCommunicator, GivesUpWhereARankHasDied) {
  const auto outcomes = run(world_, [&](const Communicator& communicator) {
    barrier(communicator);
    if (communicator.rank() == 2) return world_.lose(2, "killed by signal 9");
    barrier(communicator);
  });
  for (const std::size_t rank : {0, 1, 3}) {
    EXPECT_EQ(outcomes[rank].code, ErrorCode::peer_lost);
    EXPECT_THAT(outcomes[rank].text,
                AllOf(HasSubstr("rank 2 is lost: killed by signal 9; see what it has printed last"),
                      HasSubstr("started again")));
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, ThreadCommunicator,
                         testing::Values(std::vector<int>{}, std::vector<int>{0, 0, 0, 1}, std::vector<int>{0, 1, 0, 1},
                                         std::vector<int>{0, 1, 2, 3}));

TEST(TwoThreads, AreNoticedOnOneCommunicator) {
  ThreadWorld world({.ranks = 2});
  std::atomic<bool> noticed{false};
  expect_success(run(world, [&](const Communicator& communicator) {
    Request request = ibarrier(communicator);
    barrier(communicator);
    if (communicator.rank() == 0) {
      std::thread first([&] { barrier(communicator); });
      const SharedGroup& memory = *communicator.state().transport().node_memory();
      while (memory.recorded(0)->number < 3) std::this_thread::yield();  // until it is inside
      std::vector<int> values(1000);
      EXPECT_THAT(outcome_of([&] { allreduce(communicator, values, ReduceOp::sum); }).text,
                  AllOf(HasSubstr("allreduce on rank 0: another thread is inside this communicator"),
                        HasSubstr("a communicator of its own")));
      EXPECT_EQ(outcome_of([&] { static_cast<void>(ibarrier(communicator)); }).code, ErrorCode::invalid_argument);
      EXPECT_EQ(outcome_of([&] { request.wait(); }).code, ErrorCode::invalid_argument);
      EXPECT_EQ(outcome_of([&] { static_cast<void>(request.test()); }).code, ErrorCode::invalid_argument);
      noticed = true;
      first.join();
    } else {
      while (!noticed) std::this_thread::yield();
      barrier(communicator);
    }
    request.wait();
    EXPECT_EQ(allreduce(communicator, 1, ReduceOp::sum), 2) << "it is whole";
  }));
}

TEST(TwoThreads, DriveEachOthersRequests) {
  constexpr int processes = 2;
  const ThreadWorld worlds[] = {ThreadWorld({.ranks = processes}), ThreadWorld({.ranks = processes})};
  std::vector<std::thread> threads;
  for (int process = 0; process < processes; ++process) {
    const auto engine = std::make_shared<Engine>();
    for (const ThreadWorld& world : worlds) {
      threads.emplace_back([&world, process, engine] {
        const Communicator communicator = world.communicator(process, engine);
        for (int round = 1; round <= 50; ++round) {
          std::vector<int> values(300, round);
          Request request = iallreduce(communicator, values, ReduceOp::sum);
          if (round % 2 == 0) std::this_thread::yield();
          ASSERT_EQ(allreduce(communicator, round, ReduceOp::max), round);
          Request last = ibarrier(communicator);
          while (!request.test()) std::this_thread::yield();
          ASSERT_EQ(values, std::vector<int>(300, processes * round));
          last.wait();
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadMismatch, IsReportedOnEveryRankWithTheCalls) {
  ThreadWorld world({.ranks = 3});
  const auto outcomes = run(world, [](const Communicator& communicator) {
    barrier(communicator);
    std::vector<float> values(communicator.rank() == 1 ? 5 : 6);
    allreduce(communicator, values, ReduceOp::sum);
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, ErrorCode::mismatch);
    EXPECT_THAT(outcome.text, HasSubstr("rank 1: allreduce of 5 float32 by sum"));
    EXPECT_THAT(outcome.text, HasSubstr("ranks 0, 2: allreduce of 6 float32 by sum"));
  }
}

TEST(ThreadMismatch, NamesTheAlgorithmsWhereOnlyTheyDiffer) {
  ThreadWorld world({.ranks = 3});
  const auto outcomes = run(world, [](const Communicator& communicator) {
    std::vector<float> values(6);
    allreduce(communicator, values, ReduceOp::sum, {.algorithm = communicator.rank() == 1 ? "ring" : "slot"});
    barrier(communicator);
  });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.code, ErrorCode::mismatch);
    EXPECT_THAT(outcome.text, HasSubstr("rank 1: allreduce of 6 float32 by sum (algorithm ring)"));
    EXPECT_THAT(outcome.text, HasSubstr("ranks 0, 2: allreduce of 6 float32 by sum (algorithm slot)"));
  }
}

}  // namespace
}  // namespace chorus::test
