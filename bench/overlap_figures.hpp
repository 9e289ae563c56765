// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <optional>
#include <span>

namespace chorus::bench {

/// How much of a communication that takes `communication_us` alone was hidden behind a computation that takes
/// `computation_us` alone, where both together took `total_us`: 0 (or less was gained than lost) to 100 percent, by
/// the formula of the OSU benchmarks.
[[nodiscard]] double overlap_percent(double total_us, double computation_us, double communication_us);

/// The same of samples that were measured side by side, by their medians.
[[nodiscard]] Estimate estimate_overlap(std::span<const double> total_us, std::span<const double> computation_us,
                                        std::span<const double> communication_us);

/// What was hidden of a nonblocking call, in percent.
struct Hidden {
  double compute_us = 0;  ///< what the computation takes alone
  Estimate untested;      ///< nothing was called meanwhile
  Estimate tested;        ///< it was tested now and then
};

/// MPI's own nonblocking call.
struct NativeOverlap {
  Quartiles nonblocking_us;
  Hidden hidden = {};
};

/// The forms of a collective beside the blocking one.
struct Overlap {
  Quartiles nonblocking_us;    ///< started and waited for
  Estimate nonblocking_ratio;  ///< over blocking
  Quartiles persistent_us;     ///< started and waited for
  Estimate persistent_ratio;   ///< over blocking
  Hidden hidden = {};
  std::optional<NativeOverlap> native = {};
};

}  // namespace chorus::bench
