// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

#include <string_view>

namespace chorus {

// Reduce and allreduce inside a node whose ranks reach each other's memory by the system: each rank reduces a piece of
// the vector, which it reads from the memory of all others, and writes what it gets into the memory of those who are to
// have it. Nobody else touches a piece, so that no rank waits for another between the arrivals and the end, in place
// either.
//
// With p = 3, pieces A, B and C, what rank 1 does in an allreduce:
//
//   round 1   shows where its vectors lie
//             reads B of 0 and 2, result B, writes it to 0 and 2
//   round 2   shows how much of B is done
//
// A rank moves (p-1)/p n in and as much out, where slots take 2n each way; in a reduce n in, and the root's piece is
// longer, as the root has nothing to write. Where the system refuses to copy, `other` reduces what is left of each
// piece.

Task<> reduce_by_single_copy(Transport& transport, Arguments arguments, const Algorithm& other);
[[nodiscard]] Traffic traffic_of_single_copy_reduction(const Problem& problem);

/// The row of such a reduction, with `other` as above.
template <const Algorithm& other>
[[nodiscard]] constexpr Algorithm single_copy_reduction(std::string_view summary) {
  return {.name = "single_copy",
          .summary = summary,
          .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
          .applies =
              [](const Problem& problem) { return problem.single_copy && problem.ranks > 1 && other.applies(problem); },
          .traffic = traffic_of_single_copy_reduction,
          .run = [](Transport& transport,
                    Arguments arguments) { return reduce_by_single_copy(transport, arguments, other); },
          .arrives = true,
          .at_once = true};
}

}  // namespace chorus
