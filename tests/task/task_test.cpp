// SPDX-License-Identifier: Apache-2.0
#include "task/task.hpp"

#include "gate.hpp"
#include "task/operation.hpp"

#include <chorus/error.hpp>

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace chorus::test {
namespace {

using testing::HasSubstr;

std::exception_ptr the_error() { return std::make_exception_ptr(Error(ErrorCode::timeout, "too late")); }

Task<int> seven() { co_return 7; }

Task<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }

Task<> wait_for(Gate& gate) { co_await gate.pass(); }

Task<int> fail() {
  throw std::out_of_range("beyond");
  co_return 0;
}

TEST(Tasks, StartWhenTheyAreDriven) {
  bool ran = false;
  const auto body = [&ran]() -> Task<> {
    ran = true;
    co_return;
  };
  Operation operation(body());
  EXPECT_FALSE(ran);
  EXPECT_FALSE(operation.started());
  EXPECT_TRUE(operation.step());
  EXPECT_TRUE(ran);
  EXPECT_TRUE(operation.done());
  EXPECT_NO_THROW(operation.result());
}

TEST(Tasks, GiveValuesToWhoeverAwaitsThem) {
  int sum = 0;
  const auto body = [&sum]() -> Task<> {
    const std::unique_ptr<int> box = co_await boxed(35);
    sum = co_await seven() + *box;
  };
  Operation operation(body());
  operation.step();
  EXPECT_EQ(sum, 42);
}

TEST(Tasks, DoNotGrowTheStackOneAfterAnother) {
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  constexpr int tasks = 1'000'000;
#else  // compilers then let one task call the next instead of jumping to it
  constexpr int tasks = 1000;
#endif
  int sum = 0;
  const auto body = [&sum]() -> Task<> {
    for (int number = 0; number < tasks; ++number) sum += co_await seven();
  };
  Operation operation(body());
  operation.step();
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(sum, 7 * tasks);
}

TEST(Tasks, LetGoOfALeafThatThrows) {
  for (const bool at_once : {true, false}) {
    Gate gate{.broken = at_once};
    Operation operation(wait_for(gate));
    operation.step();
    gate.broken = true;
    operation.step();
    EXPECT_EQ(gate.abandoned, 1);
    EXPECT_THROW(operation.result(), std::domain_error);
  }
}

TEST(Tasks, LetExceptionsThroughToWhoeverAwaitsThem) {
  std::string caught;
  const auto body = [&caught]() -> Task<> {
    try {
      co_await fail();
    } catch (const std::out_of_range& error) {
      caught = error.what();
    }
    co_await fail();
  };
  Operation operation(body());
  operation.step();
  EXPECT_EQ(caught, "beyond");
  EXPECT_TRUE(operation.done());
  EXPECT_THROW(operation.result(), std::out_of_range);
}

TEST(Tasks, WaitForTheirLeaves) {
  Gate gate;
  Operation operation(wait_for(gate));
  EXPECT_TRUE(operation.step());
  EXPECT_FALSE(operation.step());
  EXPECT_FALSE(operation.done());
  EXPECT_THAT(operation.waiting()->describe(), HasSubstr("waiting for a gate at task/task_test.cpp:"));
  gate.open = true;
  EXPECT_TRUE(operation.step());
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(operation.waiting(), nullptr);
}

TEST(Tasks, GetTheExceptionsOfTheirLeaves) {
  Gate gate;
  Operation operation(wait_for(gate));
  operation.step();
  gate.broken = true;
  EXPECT_TRUE(operation.step());
  EXPECT_THROW(operation.result(), std::domain_error);
}

TEST(Tasks, DoNotWaitForALeafThatIsReady) {
  Gate gate{.open = true};
  Operation operation(wait_for(gate));
  operation.step();
  EXPECT_TRUE(operation.done());
}

TEST(Cancellation, EndsWhatWaits) {
  Gate gate;
  Operation operation(wait_for(gate));
  operation.step();
  operation.cancel(the_error());
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(gate.abandoned, 1);
  EXPECT_THROW(operation.result(), Error);
}

TEST(Cancellation, FailsLaterWaitsAtOnce) {
  Gate first;
  Gate second;
  int failures = 0;
  const auto body = [&]() -> Task<> {
    for (Gate* gate : {&first, &second}) {
      try {
        co_await gate->pass();
      } catch (const Error&) {
        ++failures;
      }
    }
  };
  Operation operation(body());
  operation.step();
  operation.cancel(the_error());
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(failures, 2);
  EXPECT_EQ(first.abandoned, 1);
  EXPECT_EQ(second.abandoned, 1);
  EXPECT_NO_THROW(operation.result());
}

TEST(Cancellation, BeforeTheStartReachesTheFirstWait) {
  Gate gate;
  Operation operation(wait_for(gate));
  operation.cancel(the_error());
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(gate.abandoned, 1);
  EXPECT_THROW(operation.result(), Error);
}

TEST(Cancellation, HappensWhenAnUnfinishedOperationIsDestroyed) {
  Gate gate;
  bool unwound = false;
  const auto body = [&]() -> Task<> {
    const auto note = [&unwound](int*) { unwound = true; };
    int something = 0;
    const std::unique_ptr<int, decltype(note)> guard(&something, note);
    co_await gate.pass();
  };
  {
    Operation operation(body());
    operation.step();
    EXPECT_FALSE(unwound);
  }
  EXPECT_TRUE(unwound);
  EXPECT_EQ(gate.abandoned, 1);
}

TEST(Cancellation, IsNothingToAnOperationThatNeverStarted) {
  Gate gate;
  { const Operation operation(wait_for(gate)); }
  EXPECT_EQ(gate.abandoned, 0);
}

}  // namespace
}  // namespace chorus::test
