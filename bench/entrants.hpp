// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "regret_report.hpp"
#include "report.hpp"
#include "subject.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace chorus::bench {

/// One algorithm that applies, and what was measured of it.
struct Entrant {
  Point point;
  std::vector<double> us;  ///< those of all entrants were measured side by side
};

/// Measures every algorithm of `subject` that applies, for one size, for about so many seconds each. Called by all
/// ranks; the medians are the same on each.
[[nodiscard]] std::vector<Entrant> measure_all(Subject& subject, std::size_t bytes, double seconds_each);

/// What `chosen`, one of them, costs beside the best.
[[nodiscard]] Regret regret_of(const Row& row, const std::vector<Entrant>& entrants, std::string_view chosen);

}  // namespace chorus::bench
