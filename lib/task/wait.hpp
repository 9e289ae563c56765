// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace chorus {

/// A futex word that sleepers wait on and a writer rings; both may live in memory shared between processes.
struct Bell {
  std::atomic<std::uint32_t> rings{0};
  std::atomic<std::uint32_t> sleepers{0};

  /// Wakes whoever sleeps; costs one load where nobody does. A sleeper that comes at the same moment may miss it and
  /// wakes by its time limit; SharedGroup::announce, which costs more, misses none.
  void ring() noexcept {
    if (sleepers.load(std::memory_order_relaxed) != 0) wake();
  }
  void wake() noexcept;
  /// Sleeps until it rings, at most `limit`; returns at once where `rings` is no longer `seen`.
  void sleep(std::uint32_t seen, std::chrono::microseconds limit) noexcept;
};

/// How long a wait spins, then yields, before it sleeps. With more ranks than cores spinning takes the time of the rank
/// that is waited for. Aligned so that every compiler copies it in one piece, and an atomic one needs no lock.
struct alignas(8) WaitPolicy {
  int spins = 2000;
  int yields = 2000;

  [[nodiscard]] bool oversubscribed() const noexcept { return spins == 0; }
  /// The policy for `ranks` on `cores`; every rank of a node gets the same numbers and so the same policy.
  [[nodiscard]] static WaitPolicy of(int ranks, int cores) noexcept;
};

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

class Wait;

/// What a rank does when spinning has not helped: drive other collectives, yield or sleep, and look now and then
/// whether waiting still makes sense. Throws Error where it does not.
class Waiter {
 public:
  explicit Waiter(const WaitPolicy& policy) noexcept : policy_(policy) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;
  virtual void idle(Wait& wait, Bell* bell) = 0;
  /// Drives `task` until it is done; throws what it threw. Where waiting throws, the task gets that where it waits.
  void drive(Task<> task);
  [[nodiscard]] WaitPolicy policy() const noexcept { return policy_.load(std::memory_order_relaxed); }
  /// Any thread may, also while another waits.
  void set_policy(const WaitPolicy& policy) noexcept { policy_.store(policy, std::memory_order_relaxed); }

 protected:
  /// What is driven, for reports; null where that is no task.
  [[nodiscard]] const Operation* driven() const noexcept { return driven_; }
  void set_driven(const Operation* operation) noexcept { driven_ = operation; }

 private:
  const Operation* driven_ = nullptr;
  std::atomic<WaitPolicy> policy_;
  static_assert(std::atomic<WaitPolicy>::is_always_lock_free);
};

/// One wait from its first poll on. Between polls the waiting code calls `pause`.
class Wait {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Wait(Waiter& waiter) noexcept : waiter_(waiter), spins_left_(waiter.policy().spins) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() { disarm(); }

  void pause(Bell* bell) {
    if (spins_left_ > 0) {
      --spins_left_;
      cpu_relax();
    } else {
      waiter_.idle(*this, bell);
    }
  }

  void stop_spinning() noexcept { spins_left_ = 0; }

  /// Something has moved: the next thing may come soon.
  void spin_again() noexcept {
    spins_left_ = waiter_.policy().spins;
    idle_polls = 0;
    disarm();
  }

  /// The same of what is waited for.
  void moved() noexcept {
    ++moves_;
    spin_again();
  }

  /// One more idle poll. Yields at first; then sleeps on `bell`, or for a moment where it is null. Sleeping takes two
  /// calls, so that what is waited for is polled once more between telling the writer and falling asleep.
  void rest(Bell* bell) noexcept;

  /// Looks at the clock; false the first time, and where it has just been looked at. A long time without a look does
  /// not count as waiting: the process was elsewhere, or stopped.
  [[nodiscard]] bool look() noexcept;
  /// What is waited for has moved since this was asked last: in this wait, or as `beside` counts.
  [[nodiscard]] bool has_moved(std::uint64_t beside) noexcept;
  /// From the first look to the last.
  [[nodiscard]] Clock::duration waited() const noexcept { return looked - began; }
  /// From the look at which something had moved, or else the first, to the last.
  [[nodiscard]] Clock::duration stood_still() const noexcept { return looked - last_moved; }

  // The waiter's notes about this wait.
  int idle_polls = 0;              ///< rests since anything moved
  Clock::time_point began{};       ///< set at the first look at the clock
  Clock::time_point last_moved{};  ///< the last look at which what is waited for had moved
  Clock::time_point looked{};      ///< the last look whether to go on
  Clock::time_point examined{};    ///< the last look at the peers' processes
  Clock::time_point asked{};       ///< when the peers were asked whether they are there
  bool warned = false;

 private:
  void disarm() noexcept {
    if (armed_ != nullptr) armed_->sleepers.fetch_sub(1, std::memory_order_relaxed);
    armed_ = nullptr;
  }

  Waiter& waiter_;
  int spins_left_;
  Bell* armed_ = nullptr;  // counts this wait among its sleepers
  std::uint32_t seen_ = 0;
  std::uint64_t moves_ = 0;        // of what is waited for
  std::uint64_t known_moves_ = 0;  // those and what moved beside, when it was asked last
};

}  // namespace chorus
