// SPDX-License-Identifier: Apache-2.0
// What is a stall, of which a line warns: that a call does not move on, however long it takes.

#include "task/engine.hpp"
#include "task/wait.hpp"
#include "transport/communicator_state.hpp"
#include "worlds/outcome.hpp"
#include "worlds/scoped_variable.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>
#include <thread>
#include <utility>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;
using detail::CommunicatorState;

/// What is there some time after it was first looked for.
class Later final : public PolledEvent {
 public:
  explicit Later(std::chrono::milliseconds after, Where where = Where::here()) : PolledEvent(where), after_(after) {}
  [[nodiscard]] std::string what() const override { return "waiting for the time to pass"; }

 private:
  bool ready() override {
    const auto now = Wait::Clock::now();
    if (began_ == Wait::Clock::time_point{}) began_ = now;
    return now - began_ >= after_;
  }

  std::chrono::milliseconds after_;
  Wait::Clock::time_point began_{};
};

/// Moves on so often that it does not stall, for longer than one that stalls may.
Task<> move_on(int steps = 16) {
  for (int step = 0; step < steps; ++step) co_await Later(30ms);
}

Task<> stop() { co_await Later(600ms); }

Task<> stop_after_moving() {
  co_await move_on();
  co_await stop();
}

Task<> stop_twice() {
  co_await stop();
  co_await stop();
}

// The ways in which a thread waits.

void drive(CommunicatorState& state, Task<> task) { state.drive(std::move(task)); }

void wait_for(CommunicatorState& state, Task<> task) {
  ParkedOperation parked(std::move(task));
  state.park(parked);
  state.wait_for(parked, 0s);
  parked.operation().result();
}

void poll(CommunicatorState& state, Task<> task) {
  ParkedOperation parked(std::move(task));
  state.park(parked);
  Wait polls(state);
  while (!state.poll(parked, polls, 0s)) std::this_thread::sleep_for(1ms);
  parked.operation().result();
}

struct Way {
  const char* name;
  void (*waits)(CommunicatorState& state, Task<> task);
};
void PrintTo(const Way& way, std::ostream* stream) { *stream << way.name; }

class Stall : public testing::TestWithParam<Way> {
 protected:
  Stall() { barrier(comm_); }

  /// The lines that are printed while this thread waits so for `task`.
  std::string warned(Task<> task) {
    testing::internal::CaptureStderr();
    GetParam().waits(comm_.state(), std::move(task));
    return testing::internal::GetCapturedStderr();
  }

  ScopedVariable warning_{"CHORUS_STALL_WARNING", "0.25"};
  Communicator comm_ = thread_communicators(1).front();
};

std::ptrdiff_t lines_of(const std::string& text) { return std::ranges::count(text, '\n'); }

TEST_P(Stall, IsNoCallThatMovesOn) { EXPECT_EQ(warned(move_on()), ""); }

TEST_P(Stall, IsWhereACallStops) {
  const std::string lines = warned(stop_after_moving());
  EXPECT_EQ(lines_of(lines), 1) << lines;
  EXPECT_NE(lines.find("chorus: rank 0 has waited 0."), std::string::npos) << lines;
}

TEST_P(Stall, IsToldOfEachTime) {
  const std::string lines = warned(stop_twice());
  EXPECT_EQ(lines_of(lines), 2) << lines;
}

INSTANTIATE_TEST_SUITE_P(Every, Stall,
                         testing::Values(Way{"driven", drive}, Way{"waited_for", wait_for}, Way{"polled", poll}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(StallOfARequest, IsNotHiddenByWhatMovesOnAnotherCommunicator) {
  const ScopedVariable warning("CHORUS_STALL_WARNING", "0.25");
  const Communicator stalled = thread_communicators(1).front();
  const Communicator moving = thread_communicators(1).front();
  for (const Communicator& comm : {stalled, moving}) barrier(comm);
  ParkedOperation stops(stop());
  ParkedOperation moves(move_on());
  stalled.state().park(stops);
  moving.state().park(moves);
  testing::internal::CaptureStderr();
  stalled.state().wait_for(stops, 0s);
  const std::string lines = testing::internal::GetCapturedStderr();
  moving.state().wait_for(moves, 0s);
  EXPECT_EQ(lines_of(lines), 1) << lines;
}

TEST(TimeLimit, IsThatOfACallThatMovesOn) {
  const ScopedVariable warning("CHORUS_STALL_WARNING", "0.25");
  const ScopedVariable timeout("CHORUS_TIMEOUT", "0.6");
  const Communicator comm = thread_communicators(1).front();
  barrier(comm);
  testing::internal::CaptureStderr();
  const Outcome outcome = outcome_of([&] { comm.state().drive(move_on(1000)); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  expect_error(outcome, ErrorCode::timeout, {"rank 0 has waited 0.6 s, its limit"});
  EXPECT_LT(outcome.took.count(), soon_s);
}

}  // namespace
}  // namespace chorus::test
