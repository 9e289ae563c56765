// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"
#include "table.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace chorus::bench {

/// How long to measure. Equal on all ranks.
struct Effort {
  std::size_t repetitions = 0;  ///< one or more
  std::size_t warmup = 0;       ///< calls before the clock runs
  /// Where given, repetitions end after about this long, however few there have been.
  std::optional<std::chrono::duration<double>> limit;
  double block_us = 20;  ///< what a repetition of short calls takes at least
};

/// Calls timed one by one with an MPI_Barrier before each, as the OSU benchmarks do. Each rank takes the mean of its
/// own times; these are the mean, least and greatest of the ranks' means.
struct OsuLatency {
  double avg_us = 0;
  double min_us = 0;
  double max_us = 0;
  std::size_t iterations = 0;
};

/// Repetitions of one side. Of short calls one repetition is a block of `calls`, long enough for the clock, and its
/// time is divided by them. The time of a repetition is that of the slowest rank; before each is an MPI_Barrier.
struct Samples {
  std::vector<double> us;  ///< one for each repetition, in the order of time, equal on all ranks
  std::size_t calls = 1;   ///< in one repetition
};

/// One of the ways to do something that are measured beside each other.
struct Side {
  std::vector<Call> turns;  ///< one or more, which take turns, in one stream or none
  Run run = nullptr;
};

/// Carries out so many calls in a row, of whatever is measured, and returns when the last one is over.
using Block = std::function<void(std::size_t calls)>;

/// Every function here is called by all ranks, with the same arguments but for the buffers.
[[nodiscard]] OsuLatency measure_osu_latency(const Call& call, Run run, const Effort& effort);

/// Samples of each side, repetition by repetition in turn, in an order drawn anew each time.
[[nodiscard]] std::vector<Samples> measure_interleaved(std::span<const Side> sides, const Effort& effort);
[[nodiscard]] std::vector<Samples> measure_interleaved(std::span<const Block> sides, const Effort& effort);

}  // namespace chorus::bench
