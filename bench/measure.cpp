// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include "device/device_stream.hpp"

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
double time_block_us(const Block& block, std::size_t calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const Clock::time_point start = Clock::now();
  block(calls);
  return us_since(start);
}

double slowest(double time) {
  double time_of_all = 0;
  MPI_Allreduce(&time, &time_of_all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return time_of_all;
}

// The least of a few, so that an interrupt does not make a short call look long; of what no interrupt makes so long,
// one.
double undisturbed_block_us(const Block& block, std::size_t calls, double long_enough_us) {
  constexpr int tries = 5;
  constexpr double interrupt_us = 10'000;
  double least_us = slowest(time_block_us(block, calls));
  for (int again = 1; again < tries && least_us < long_enough_us + interrupt_us; ++again) {
    least_us = std::min(least_us, slowest(time_block_us(block, calls)));
  }
  return least_us;
}

// So many calls that the clock's own cost and resolution (some 30 ns) no longer count.
std::size_t calls_per_repetition(const Block& block, double long_enough_us) {
  constexpr std::size_t most = 4096;
  std::size_t calls = 1;
  while (calls < most && undisturbed_block_us(block, calls, long_enough_us) < long_enough_us) calls *= 2;
  return calls;
}

void warm_up(const Block& block, const Effort& effort) {
  const Clock::time_point start = Clock::now();
  for (std::size_t done = 0; done < effort.warmup;) {
    const std::size_t calls = std::min(std::max<std::size_t>(done, 1), effort.warmup - done);
    block(calls);
    done += calls;
    if (!effort.limit) continue;
    if (slowest(us_since(start)) > std::chrono::duration<double, std::micro>(*effort.limit).count() / 4) return;
  }
}

Block block_of(const Side& side) {
  return [&side](std::size_t calls) {
    std::size_t turn = 0;
    for (std::size_t done = 0; done < calls; ++done) {
      side.run(side.turns[turn]);
      if (++turn == side.turns.size()) turn = 0;
    }
    if (side.turns[0].stream != nullptr) side.turns[0].stream->wait();
  };
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
  const Side side = {{call}, run};
  const Block block = block_of(side);
  warm_up(block, effort);
  OsuLatency latency;
  double total_us = 0;
  for (Countdown countdown(effort); countdown.goes_on(); ++latency.iterations) total_us += time_block_us(block, 1);

  const double own_us = total_us / static_cast<double>(latency.iterations);
  MPI_Allreduce(&own_us, &latency.avg_us, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&own_us, &latency.min_us, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&own_us, &latency.max_us, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  latency.avg_us /= call.world.size();
  return latency;
}

std::vector<Samples> measure_interleaved(std::span<const Block> sides, const Effort& effort) {
  std::vector<Samples> all(sides.size());
  for (std::size_t side = 0; side < sides.size(); ++side) {
    warm_up(sides[side], effort);
    all[side].calls = calls_per_repetition(sides[side], effort.block_us);
  }

  std::vector<std::size_t> order(sides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 same_on_all_ranks;
  for (Countdown countdown(effort); countdown.goes_on();) {
    std::shuffle(order.begin(), order.end(), same_on_all_ranks);
    for (const std::size_t side : order) {
      const std::size_t calls = all[side].calls;
      all[side].us.push_back(time_block_us(sides[side], calls) / static_cast<double>(calls));
    }
  }

  for (Samples& samples : all) {
    MPI_Allreduce(MPI_IN_PLACE, samples.us.data(), static_cast<int>(samples.us.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
  }
  return all;
}

std::vector<Samples> measure_interleaved(std::span<const Side> sides, const Effort& effort) {
  std::vector<Block> blocks;
  for (const Side& side : sides) blocks.push_back(block_of(side));
  return measure_interleaved(blocks, effort);
}

}  // namespace chorus::bench
