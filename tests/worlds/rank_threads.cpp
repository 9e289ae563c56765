// SPDX-License-Identifier: Apache-2.0
#include "worlds/rank_threads.hpp"

#include <chorus/error.hpp>

#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace chorus::test {

RankThreads::RankThreads(const WorldOptions& options)
    : world_({.ranks = options.ranks,
              .nodes = options.nodes,
              .bindings = options.bindings,
              .slot_bytes = options.slot_bytes}) {
  const auto policy = WaitPolicy::of(options.ranks, static_cast<int>(std::thread::hardware_concurrency()));
  for (int rank = 0; rank < options.ranks; ++rank) {
    transports_.push_back(world_.transport(rank, watches_.emplace_back(policy, failed_)));
  }
}

void RankThreads::Watch::idle(Wait& wait, Bell* bell) {
  wait.rest(bell);
  if (wait.idle_polls % 64 != 0) return;
  if (failed_) throw Error(ErrorCode::peer_lost, "another rank has failed");
  const auto now = Wait::Clock::now();
  if (wait.began == Wait::Clock::time_point{}) wait.began = now;
  if (now - wait.began <= std::chrono::minutes(1)) return;
  const PolledEvent* const event = driven() == nullptr ? nullptr : driven()->waiting();
  throw std::runtime_error("a rank has waited for a minute" + (event == nullptr ? "" : ", " + event->describe()));
}

void RankThreads::run(const Body& body) {
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < transports_.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        watches_[rank].drive(body(*transports_[rank]));
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!first) first = std::current_exception();
        failed_ = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace chorus::test
