// SPDX-License-Identifier: Apache-2.0
#include "overlap_figures.hpp"

#include <algorithm>
#include <array>

namespace chorus::bench {

double overlap_percent(double total_us, double computation_us, double communication_us) {
  return std::clamp(100 * (1 - (total_us - computation_us) / communication_us), 0.0, 100.0);
}

Estimate estimate_overlap(std::span<const double> total_us, std::span<const double> computation_us,
                          std::span<const double> communication_us) {
  const std::array sides = {total_us, computation_us, communication_us};
  return estimate_of_medians(
      sides, [](std::span<const double> medians) { return overlap_percent(medians[0], medians[1], medians[2]); });
}

}  // namespace chorus::bench
