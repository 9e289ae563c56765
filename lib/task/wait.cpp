// SPDX-License-Identifier: Apache-2.0
#include "task/wait.hpp"

#include "task/operation.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <exception>
#include <utility>

namespace chorus {
namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 1ms;
constexpr auto longest_gap = 100ms;  // between two looks: a process that looks less often is elsewhere, or stopped

// Not FUTEX_PRIVATE: the word may be mapped by several processes.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) noexcept {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

}  // namespace

void Bell::wake() noexcept {
  rings.fetch_add(1, std::memory_order_seq_cst);
  futex(rings, FUTEX_WAKE, INT_MAX, nullptr);
}

void Bell::sleep(std::uint32_t seen, std::chrono::microseconds limit) noexcept {
  const timespec duration{.tv_sec = static_cast<time_t>(limit.count() / 1'000'000),
                          .tv_nsec = static_cast<long>(limit.count() % 1'000'000 * 1000)};
  futex(rings, FUTEX_WAIT, seen, &duration);
}

void Waiter::drive(Task<> task) {
  Operation operation(std::move(task));
  const Operation* const outer = std::exchange(driven_, &operation);
  try {
    Wait wait(*this);
    while (!operation.done()) {
      if (operation.step()) {
        wait.moved();
      } else {
        wait.pause(operation.bell());
      }
    }
  } catch (...) {
    operation.cancel(std::current_exception());
  }
  driven_ = outer;
  operation.result();
}

void Wait::rest(Bell* bell) noexcept {
  constexpr std::chrono::microseconds longest_sleep{1000};
  if (++idle_polls <= waiter_.policy().yields) {
    sched_yield();
  } else if (bell == nullptr) {
    constexpr timespec moment{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&moment, nullptr);
  } else if (armed_ != bell) {
    disarm();
    armed_ = bell;
    bell->sleepers.fetch_add(1, std::memory_order_seq_cst);
    seen_ = bell->rings.load(std::memory_order_seq_cst);
  } else {
    bell->sleep(seen_, longest_sleep);
    disarm();
  }
}

bool Wait::look() noexcept {
  const auto now = Clock::now();
  if (began == Clock::time_point{}) {
    began = last_moved = looked = examined = now;
    return false;
  }
  if (now - looked < look_interval) return false;
  const Clock::duration elsewhere = std::max<Clock::duration>(0ns, now - looked - longest_gap);
  began += elsewhere;
  last_moved += elsewhere;
  looked = now;
  return true;
}

bool Wait::has_moved(std::uint64_t beside) noexcept {
  const std::uint64_t moves = moves_ + beside;
  if (std::exchange(known_moves_, moves) == moves) return false;
  last_moved = looked;
  return true;
}

WaitPolicy WaitPolicy::of(int ranks, int cores) noexcept {
  if (ranks > cores) return {.spins = 0, .yields = 100};
  return {};
}

}  // namespace chorus
