// SPDX-License-Identifier: Apache-2.0
#include "transport/pace.hpp"

#include "kernels/kernels.hpp"
#include "transport/shared_group.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

namespace chorus {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up = data_slots / 2;
constexpr int repetitions = 12;
constexpr int attempts = 8;  // while the system moves ranks that are not bound apart

/// The shortest time, in microseconds, in which this rank has written a slot and read its neighbour's.
Task<double> exchange_us(SharedGroup& memory, kernels::Store store, std::vector<std::byte>& buffer) {
  const int neighbour = (memory.rank() + 1) % memory.size();
  double shortest = std::numeric_limits<double>::infinity();
  for (int repetition = -warm_up; repetition < repetitions; ++repetition) {
    const Round round = co_await memory.open(data_slots);
    const auto began = Clock::now();
    kernels::copy(memory.slot(round, memory.rank()), buffer.data(), buffer.size(), store);
    memory.arrive(round);
    co_await memory.arrivals(round);
    kernels::copy(buffer.data(), memory.slot(round, neighbour), buffer.size(), kernels::Store::cached);
    const std::chrono::duration<double, std::micro> took = Clock::now() - began;
    if (repetition >= 0) shortest = std::min(shortest, took.count());
  }
  co_return shortest;
}

/// True where no two ranks are on one core at the moment: what they measured is the pace between cores.
Task<bool> are_on_cores_of_their_own(SharedGroup& memory) {
  const int core = sched_getcpu();
  const Round round = co_await memory.open(line_slots);
  std::memcpy(memory.payload(round), &core, sizeof core);
  memory.arrive(round);
  co_await memory.arrivals(round);
  std::vector<int> cores(static_cast<std::size_t>(memory.size()));
  for (int rank = 0; rank < memory.size(); ++rank) {
    std::memcpy(&cores[static_cast<std::size_t>(rank)], memory.payload(round, rank), sizeof core);
  }
  std::ranges::sort(cores);
  co_return std::ranges::adjacent_find(cores) == cores.end();
}

struct Remembered {
  std::mutex mutex;
  Pace pace;
};
Remembered& remembered() noexcept {
  static Remembered pace_of_process;
  return pace_of_process;
}

}  // namespace

Task<Pace> measure_pace(SharedGroup& memory) {
  std::vector<std::byte> buffer(memory.slot_bytes());
  const double bytes = 2.0 * static_cast<double>(buffer.size());
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const double streamed_us = co_await exchange_us(memory, kernels::Store::streamed, buffer);
    const double cached_us = co_await exchange_us(memory, kernels::Store::cached, buffer);
    if (co_await are_on_cores_of_their_own(memory)) {
      co_return Pace{.cached = bytes / cached_us, .streamed = bytes / streamed_us};
    }
  }
  co_return Pace();
}

Pace remembered_pace() noexcept {
  const std::scoped_lock lock(remembered().mutex);
  return remembered().pace;
}

void remember_pace(const Pace& pace) noexcept {
  const std::scoped_lock lock(remembered().mutex);
  remembered().pace = pace;
}

}  // namespace chorus
