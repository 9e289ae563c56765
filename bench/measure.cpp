// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace chorus::bench {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// This rank's time for `calls` calls in a row, started together with the others.
double time_block_us(const Call& call, Run run, std::size_t calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const Clock::time_point start = Clock::now();
  for (std::size_t done = 0; done < calls; ++done) run(call);
  return us_since(start);
}

double slowest(double time) {
  double time_of_all = 0;
  MPI_Allreduce(&time, &time_of_all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return time_of_all;
}

// The least of a few, so that an interrupt does not make a short call look long.
double undisturbed_block_us(const Call& call, Run run, std::size_t calls) {
  constexpr int tries = 5;
  double least_us = slowest(time_block_us(call, run, calls));
  for (int again = 1; again < tries; ++again) least_us = std::min(least_us, slowest(time_block_us(call, run, calls)));
  return least_us;
}

// So many calls that the clock's own cost and resolution (some 30 ns) no longer count.
std::size_t calls_per_repetition(const Call& call, Run run) {
  constexpr double long_enough_us = 20;
  constexpr std::size_t most = 4096;
  std::size_t calls = 1;
  while (calls < most && undisturbed_block_us(call, run, calls) < long_enough_us) calls *= 2;
  return calls;
}

void warm_up(const Call& call, Run run, const Effort& effort) {
  const Clock::time_point start = Clock::now();
  for (std::size_t done = 0, look = 1; done < effort.warmup; ++done) {
    run(call);
    if (!effort.limit || done + 1 != look) continue;
    look *= 2;
    if (slowest(us_since(start)) > std::chrono::duration<double, std::micro>(*effort.limit).count() / 4) return;
  }
}

// Tells all ranks alike when to stop. Asking costs a collective, so it asks ever more rarely: the limit may be
// exceeded by an eighth.
class Countdown {
 public:
  explicit Countdown(const Effort& effort) : effort_(effort) {}

  [[nodiscard]] bool goes_on() {
    if (done_ == effort_.repetitions) return false;
    if (effort_.limit && done_ == look_) {
      look_ += look_ / 8 + 1;
      if (slowest(us_since(start_)) > std::chrono::duration<double, std::micro>(*effort_.limit).count()) return false;
    }
    ++done_;
    return true;
  }

 private:
  const Effort& effort_;
  Clock::time_point start_ = Clock::now();
  std::size_t done_ = 0;
  std::size_t look_ = 1;
};

}  // namespace

OsuLatency measure_osu_latency(const Call& call, Run run, const Effort& effort) {
  warm_up(call, run, effort);
  OsuLatency latency;
  double total_us = 0;
  for (Countdown countdown(effort); countdown.goes_on(); ++latency.iterations) total_us += time_block_us(call, run, 1);

  const double own_us = total_us / static_cast<double>(latency.iterations);
  MPI_Allreduce(&own_us, &latency.avg_us, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&own_us, &latency.min_us, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own_us, &latency.max_us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  latency.avg_us /= call.world.size();
  return latency;
}

std::vector<Samples> measure_interleaved(const Call& call, std::span<const Run> runs, const Effort& effort) {
  std::vector<Samples> sides(runs.size());
  for (std::size_t side = 0; side < runs.size(); ++side) {
    warm_up(call, runs[side], effort);
    sides[side].calls = calls_per_repetition(call, runs[side]);
  }

  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 same_on_all_ranks;
  for (Countdown countdown(effort); countdown.goes_on();) {
    std::shuffle(order.begin(), order.end(), same_on_all_ranks);
    for (const std::size_t side : order) {
      const std::size_t calls = sides[side].calls;
      sides[side].us.push_back(time_block_us(call, runs[side], calls) / static_cast<double>(calls));
    }
  }

  for (Samples& samples : sides) {
    MPI_Allreduce(MPI_IN_PLACE, samples.us.data(), static_cast<int>(samples.us.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
  }
  return sides;
}

}  // namespace chorus::bench
