// SPDX-License-Identifier: Apache-2.0
#include "task/progress_thread.hpp"

#include <sched.h>

#include <chrono>
#include <csignal>

namespace chorus {

ProgressThread::ProgressThread(Engine& engine) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // signals are for the program's threads
  thread_ = std::jthread([&engine](const std::stop_token& stop) { run(stop, engine); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// It may have to share a core with the thread that computes, and gives that way when it has nothing to do.
void ProgressThread::run(const std::stop_token& stop, Engine& engine) {
  using namespace std::chrono_literals;
  constexpr int yields = 50;
  constexpr auto nap = 20us;
  int idle_polls = 0;
  while (engine.wait_for_work(stop)) {
    if (engine.progress()) {
      idle_polls = 0;
    } else if (++idle_polls <= yields) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(nap);
    }
  }
}

}  // namespace chorus
