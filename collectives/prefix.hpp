// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus {

/// True for scan, in whose result a rank has its own contribution; false for exscan.
[[nodiscard]] inline bool has_own(const Call& call) noexcept { return call.collective == Collective::scan; }

/// Whether the busiest rank joins anything: the second of two ranks has the first one's data as its exscan.
[[nodiscard]] inline bool joins(const Problem& problem) noexcept {
  return problem.ranks > (has_own(problem.call) ? 1 : 2);
}

}  // namespace chorus
