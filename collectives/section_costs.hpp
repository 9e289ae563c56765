// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/call.hpp"
#include "link_model.hpp"

#include <cstddef>

namespace chorus {

/// Of what each rank gives or gets in all, what is passed: not what it has for itself.
[[nodiscard]] inline double passed_bytes(const Problem& problem) {
  return (problem.ranks - 1.0) * static_cast<double>(problem.call.bytes()) / problem.ranks;
}

// What decides how sections (sections.hpp) pass through shared memory.

/// True where a rank gives all others the same section, or there is but one other.
[[nodiscard]] bool gives_one_section(const Call& call, int ranks);
/// True where the givers write part of what the root gets: not where ranks share cores.
[[nodiscard]] bool givers_write(const Call& call, const LinkModel& links, int ranks);
/// The longest section that is shown in a slot where ranks can copy from each other's memory: longer ones are there
/// sooner by one copy than by two, although their giver has to wait for it.
[[nodiscard]] std::size_t longest_shown(const Call& call, int ranks, std::size_t slot_bytes, const LinkModel& links);

}  // namespace chorus
