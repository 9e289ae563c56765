// SPDX-License-Identifier: Apache-2.0
#include "task/progress_thread.hpp"

#include "task/signals_blocked.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <chrono>
#include <thread>

namespace chorus {

ProgressThread::ProgressThread(Engine& engine) {
  const SignalsBlocked blocked;
  thread_ = std::jthread([&engine](const std::stop_token& stop) { run(stop, engine); });
}

/// It may have to share a core with the thread that computes, and gives that way when it has nothing to do: a yield
/// returns at once where the core is free, and else when the other's time is over.
void ProgressThread::run(const std::stop_token& stop, Engine& engine) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  constexpr auto yielding = 100us;
  constexpr auto nap = 20us;
  prctl(PR_SET_TIMERSLACK, 1UL);  // ns; by default naps are 50 us longer
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);  // it does not interrupt who has just begun a call and goes on
  while (engine.wait_for_work(stop)) {
    Clock::time_point moved = Clock::now();
    while (engine.has_work() && !stop.stop_requested()) {
      if (engine.progress() == Progress::some) {
        moved = Clock::now();
      } else if (Clock::now() - moved < yielding) {
        sched_yield();
      } else {
        std::this_thread::sleep_for(nap);
      }
    }
  }
}

}  // namespace chorus
