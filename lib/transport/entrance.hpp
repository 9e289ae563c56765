// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace chorus {

/// Where one thread at a time may be inside: notices a second one. As it is to cost nothing, two that come at the same
/// moment may both pass.
class alignas(64) Entrance {
 public:
  /// Inside of what, and what to do instead, for the error about another thread.
  explicit Entrance(const char* what = "this communicator; take turns, or give each thread a communicator of its own")
      : what_(what) {}
  [[nodiscard]] const char* what() const noexcept { return what_; }
  [[nodiscard]] bool taken() const noexcept { return taken_.load(std::memory_order_relaxed); }

  /// A thread is inside as long as this lives.
  class Visit {
   public:
    explicit Visit(Entrance& entrance) noexcept : entrance_(entrance) {
      entrance_.taken_.store(true, std::memory_order_relaxed);
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() { entrance_.taken_.store(false, std::memory_order_relaxed); }

   private:
    Entrance& entrance_;
  };

 private:
  const char* what_;
  std::atomic<bool> taken_{false};
};

}  // namespace chorus
