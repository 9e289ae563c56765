// SPDX-License-Identifier: Apache-2.0
#include "task/watch.hpp"

#include "task/signals_blocked.hpp"

#include <utility>

namespace chorus {
namespace {

constexpr auto interval = std::chrono::milliseconds(50);

}  // namespace

Watch& Watch::of_this_process() {
  static auto* const watch = new Watch;  // never destroyed: communicators may outlive static objects
  return *watch;
}

void Watch::add(Watched& watched) {
  const std::scoped_lock lock(mutex_);
  if (watched_.empty()) {
    const SignalsBlocked blocked;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  watched_.push_back(&watched);
}

void Watch::remove(Watched& watched) {
  std::jthread ended;
  {
    const std::scoped_lock lock(mutex_);
    if (std::erase(watched_, &watched) == 0 || !watched_.empty()) return;
    ended = std::move(thread_);
  }
  ended.request_stop();
  changed_.notify_all();
  ended.join();
}

void Watch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto now = Watched::Clock::now();
    for (Watched* const watched : watched_) watched->look(now);
    changed_.wait_for(lock, interval);
  }
}

}  // namespace chorus
