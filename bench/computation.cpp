// SPDX-License-Identifier: Apache-2.0
#include "computation.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace chorus::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

// Each step needs the one before.
void work(std::size_t steps) {
  static volatile double result = 1;
  double value = result;
  for (std::size_t step = 0; step < steps; ++step) value = value * 0.999 + 0.001;
  result = value;
}

// The most of a few tries, so that an interrupt does not make the processor look slow.
double steps_per_us() {
  constexpr int tries = 20;
  constexpr std::size_t steps = 100'000;
  double least_us = std::numeric_limits<double>::infinity();
  for (int again = 0; again < tries; ++again) {
    const Clock::time_point start = Clock::now();
    work(steps);
    least_us = std::min(least_us, Microseconds(Clock::now() - start).count());
  }
  return static_cast<double>(steps) / least_us;
}

}  // namespace

Computation::Computation(Compute kind, double us) : kind_(kind), us_(us) {
  static const double pace = steps_per_us();
  steps_ = us * pace;
  if (kind == Compute::sleep) prctl(PR_SET_TIMERSLACK, 1UL);  // else the system may wake it 50 us late
}

void Computation::run(std::size_t parts, const std::function<void()>& between) const {
  const Clock::time_point start = Clock::now();
  for (std::size_t part = 1; part <= parts; ++part) {
    const double share = 1 / static_cast<double>(parts);
    if (kind_ == Compute::busy) {
      work(static_cast<std::size_t>(steps_ * share));
    } else {
      const Microseconds until(us_ * share * static_cast<double>(part));
      std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(until));
    }
    if (part < parts) between();
  }
}

}  // namespace chorus::bench
