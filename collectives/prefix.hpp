// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "link_model.hpp"

namespace chorus {

/// True for scan, in whose result a rank has its own contribution; false for exscan.
[[nodiscard]] inline bool has_own(const Call& call) noexcept { return call.collective == Collective::scan; }

/// Whether the busiest rank joins anything: the second of two ranks has the first one's data as its exscan.
[[nodiscard]] inline bool joins(const Problem& problem) noexcept {
  return problem.ranks > (has_own(problem.call) ? 1 : 2);
}

/// `traffic` of calls that follow one another where ranks share cores: no core is idle while the last rank works, as
/// those before it are at later calls, and they are waited for so many times in the mean.
[[nodiscard]] inline Traffic of_calls_in_a_row(Traffic traffic, const Problem& problem, double arrivals) noexcept {
  if (!links_of(problem).shares_cores()) return traffic;
  traffic.alone = 0;
  traffic.arrivals = arrivals;
  return traffic;
}

}  // namespace chorus
