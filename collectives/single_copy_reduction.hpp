// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

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

[[nodiscard]] bool reduces_by_single_copy(const Problem& problem, const Algorithm& other);
[[nodiscard]] Traffic traffic_of_single_copy_reduction(const Problem& problem);
Task<> reduce_by_single_copy(Transport& transport, Arguments arguments, const Algorithm& other);

}  // namespace chorus
