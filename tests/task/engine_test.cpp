// SPDX-License-Identifier: Apache-2.0
#include "task/engine.hpp"

#include "gate.hpp"
#include "task/progress_thread.hpp"
#include "task/signals_blocked.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace chorus::test {
namespace {

Task<> pass(Gate& gate) { co_await gate.pass(); }

TEST(Engine, RunsTheOperationsOfOneQueueInOrder) {
  Engine engine;
  OperationQueue queue;
  Gate first;
  Gate second{.open = true};
  ParkedOperation one(pass(first));
  ParkedOperation two(pass(second));
  engine.park(queue, one);
  engine.park(queue, two);
  engine.progress();
  EXPECT_FALSE(one.finished());
  EXPECT_FALSE(two.finished());
  EXPECT_FALSE(engine.idle());
  first.open = true;
  EXPECT_EQ(engine.progress(), Progress::some);
  EXPECT_TRUE(one.finished());
  EXPECT_TRUE(two.finished());
  EXPECT_TRUE(engine.idle());
}

TEST(Engine, RunsDifferentQueuesSideBySide) {
  Engine engine;
  OperationQueue queue;
  OperationQueue other_queue;
  Gate closed;
  Gate open{.open = true};
  ParkedOperation waiting(pass(closed));
  ParkedOperation quick(pass(open));
  engine.park(queue, waiting);
  engine.park(other_queue, quick);
  EXPECT_FALSE(waiting.finished());
  EXPECT_TRUE(quick.finished());
  closed.open = true;
  engine.progress();
  EXPECT_TRUE(waiting.finished());
}

TEST(Engine, CancelsAQueueWhole) {
  Engine engine;
  OperationQueue queue;
  Gate gate;
  ParkedOperation one(pass(gate));
  ParkedOperation two(pass(gate));
  engine.park(queue, one);
  engine.park(queue, two);
  engine.cancel(queue, std::make_exception_ptr(Error(ErrorCode::timeout, "too late")));
  EXPECT_TRUE(one.finished());
  EXPECT_TRUE(two.finished());
  EXPECT_TRUE(engine.idle());
  EXPECT_TRUE(queue.operations.empty());
  EXPECT_THROW(one.operation().result(), Error);
  EXPECT_THROW(two.operation().result(), Error);
}

TEST(Engine, KeepsAFailureForTheOneWhoAsks) {
  Engine engine;
  OperationQueue queue;
  Gate gate{.broken = true};
  ParkedOperation parked(pass(gate));
  EXPECT_NO_THROW(engine.park(queue, parked));
  EXPECT_TRUE(parked.finished());
  EXPECT_THROW(parked.operation().result(), std::domain_error);
}

TEST(Engine, MayBeDrivenByAnyThread) {
  Engine engine;
  OperationQueue queue;
  Gate gate{.open = true};
  std::atomic<bool> stop{false};
  std::thread helper([&] {
    while (!stop) engine.progress();
  });
  for (int number = 0; number < 2000; ++number) {
    ParkedOperation parked(pass(gate));
    engine.park(queue, parked);
    while (!parked.finished()) engine.progress();
  }
  stop = true;
  helper.join();
  EXPECT_TRUE(engine.idle());
}

/// It is opened while it waits, and while it sleeps.
TEST(ProgressThread, DrivesWhatIsParked) {
  Engine engine;
  const ProgressThread thread(engine);
  OperationQueue queue;
  for (int number = 0; number < 200; ++number) {
    Gate gate;
    ParkedOperation parked(pass(gate));
    engine.park(queue, parked);
    if (number % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(number));
    {
      const auto nothing_moves = engine.hold();
      gate.open = true;
    }
    while (!parked.finished()) std::this_thread::yield();
  }
  EXPECT_TRUE(engine.idle());
}

/// Who waits drives what it waits for itself; the thread would only take its core.
TEST(ProgressThread, StandsAsideWhereSomebodyAttends) {
  Engine engine;
  const ProgressThread thread(engine);
  OperationQueue queue;
  Gate gate{.open = true};
  ParkedOperation first(pass(gate));
  engine.park(queue, first);
  while (!first.finished()) std::this_thread::yield();
  Gate closed;
  ParkedOperation parked(pass(closed));
  {
    const Engine::Attendance attendance(engine);
    engine.park(queue, parked);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a round of the thread that has begun ends
    {
      const auto nothing_moves = engine.hold();
      closed.open = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(parked.finished());
  }
  while (!parked.finished()) std::this_thread::yield();
  EXPECT_TRUE(engine.idle());
}

TEST(ProgressThread, EndsAlsoWhereSomethingIsLeft) {
  Engine engine;
  OperationQueue queue;
  Gate gate;
  ParkedOperation parked(pass(gate));
  {
    const ProgressThread thread(engine);
    engine.park(queue, parked);
  }
  EXPECT_FALSE(parked.finished());
  gate.open = true;
  EXPECT_EQ(engine.progress(), Progress::some);
}

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(SignalsBlocked, AreSoForATimeHereAndForEverInThreadsStartedMeanwhile) {
  std::thread helper;
  bool in_helper = false;
  {
    const SignalsBlocked blocked;
    EXPECT_TRUE(is_blocked(SIGTERM));
    helper = std::thread([&] { in_helper = is_blocked(SIGTERM); });
  }
  EXPECT_FALSE(is_blocked(SIGTERM));
  helper.join();
  EXPECT_TRUE(in_helper);
}

}  // namespace
}  // namespace chorus::test
