// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/wait.hpp"
#include "transport/threads.hpp"
#include "worlds/worlds.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

namespace chorus::test {

/// A world whose ranks are threads: made by `run`, joined before it returns.
class RankThreads final : public World {
 public:
  explicit RankThreads(const WorldOptions& options);

  Transport& transport(int rank) override { return *transports_[static_cast<std::size_t>(rank)]; }
  void run(const Body& body) override;

 private:
  /// Gives up when another rank has failed, or after a minute.
  class Watch final : public Waiter {
   public:
    explicit Watch(const WaitPolicy& policy, const std::atomic<bool>& failed) : Waiter(policy), failed_(failed) {}
    void idle(Wait& wait, Bell* bell) override;

   private:
    const std::atomic<bool>& failed_;
  };

  ThreadWorld world_;
  std::atomic<bool> failed_{false};
  std::deque<Watch> watches_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

}  // namespace chorus::test
