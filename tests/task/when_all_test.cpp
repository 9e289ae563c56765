// SPDX-License-Identifier: Apache-2.0
#include "task/when_all.hpp"

#include "gate.hpp"
#include "task/operation.hpp"
#include "task/wait.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

Task<> pass(Gate& gate, int& passed) {
  co_await gate.pass();
  ++passed;
}

Task<> fail(std::string text) {
  throw std::runtime_error(text);
  co_return;
}

/// Waits for `gates` side by side and for `failures` tasks that fail at once.
Task<> pass_all(std::vector<Gate>& gates, int& passed, int failures = 0) {
  std::vector<Task<>> tasks;
  for (Gate& gate : gates) tasks.push_back(pass(gate, passed));
  for (int number = 0; number < failures; ++number) tasks.push_back(fail("failure " + std::to_string(number)));
  co_await when_all(tasks);
}

TEST(WhenAll, OfNothingGoesOnAtOnce) {
  std::vector<Gate> gates;
  int passed = 0;
  Operation operation(pass_all(gates, passed));
  operation.step();
  EXPECT_TRUE(operation.done());
}

TEST(WhenAll, OfFinishedTasksGoesOnAtOnce) {
  std::vector<Gate> gates(3, Gate{.open = true});
  int passed = 0;
  Operation operation(pass_all(gates, passed));
  operation.step();
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(passed, 3);
}

TEST(WhenAll, GoesOnAfterTheLastInAnyOrder) {
  for (const std::size_t ranks : {1, 2, 5, 60}) {
    std::vector<Gate> gates(ranks);
    int passed = 0;
    Operation operation(pass_all(gates, passed));
    operation.step();
    for (std::size_t number = 0; number < ranks; ++number) {
      EXPECT_FALSE(operation.done());
      gates[number * 7 % ranks == 0 && number > 0 ? number : (ranks - number) % ranks].open = true;
      while (operation.step()) {
      }
    }
    EXPECT_TRUE(operation.done());
    EXPECT_EQ(passed, static_cast<int>(ranks));
  }
}

TEST(WhenAll, EndsWithTheFirstFailure) {
  std::vector<Gate> gates(2);
  int passed = 0;
  Operation operation(pass_all(gates, passed, 2));
  operation.step();
  ASSERT_TRUE(operation.done()) << "nobody may open the gates";
  EXPECT_EQ(passed, 0);
  for (const Gate& gate : gates) EXPECT_EQ(gate.abandoned, 1);
  try {
    operation.result();
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "failure 0");
  }
}

TEST(WhenAll, EndsWhereOneFailsLater) {
  std::vector<Gate> gates(3);
  Gate outer;
  int passed = 0;
  const auto body = [&]() -> Task<> {
    std::array<Task<>, 2> tasks = {pass(outer, passed), pass_all(gates, passed)};
    co_await when_all(tasks);
  };
  Operation operation(body());
  operation.step();
  gates[0].open = gates[1].broken = true;
  operation.step();
  ASSERT_TRUE(operation.done());
  EXPECT_EQ(passed, 1);
  EXPECT_EQ(gates[2].abandoned, 1);
  EXPECT_EQ(outer.abandoned, 1);
  EXPECT_THROW(operation.result(), std::domain_error);
}

TEST(WhenAll, IsCancelledWhole) {
  std::vector<Gate> gates(4);
  int passed = 0;
  Operation operation(pass_all(gates, passed));
  operation.step();
  gates[2].open = true;
  operation.step();
  operation.cancel(std::make_exception_ptr(Error(ErrorCode::peer_lost, "gone")));
  ASSERT_TRUE(operation.done());
  EXPECT_THROW(operation.result(), Error);
  EXPECT_EQ(passed, 1);
  for (const std::size_t waiting : {0, 1, 3}) EXPECT_EQ(gates[waiting].abandoned, 1);
  EXPECT_EQ(gates[2].abandoned, 0);
}

TEST(WhenAll, SleepsOnABellWhereOneEventAloneIsWaitedFor) {
  Bell bell;
  std::vector<Gate> gates(2);
  gates[0].bell = &bell;
  int passed = 0;
  Operation operation(pass_all(gates, passed));
  operation.step();
  EXPECT_EQ(operation.bell(), nullptr) << "nothing rings for the other one";
  gates[1].open = true;
  operation.step();
  EXPECT_EQ(operation.bell(), &bell);
}

TEST(WhenAll, Nests) {
  std::vector<Gate> inner(2);
  Gate outer;
  int passed = 0;
  const auto body = [&]() -> Task<> {
    std::array<Task<>, 2> tasks = {pass_all(inner, passed), pass(outer, passed)};
    co_await when_all(tasks);
    ++passed;
  };
  Operation operation(body());
  operation.step();
  inner[1].open = outer.open = true;
  while (operation.step()) {
  }
  EXPECT_FALSE(operation.done());
  EXPECT_EQ(passed, 2);
  inner[0].open = true;
  while (operation.step()) {
  }
  EXPECT_TRUE(operation.done());
  EXPECT_EQ(passed, 4);
}

}  // namespace
}  // namespace chorus::test
