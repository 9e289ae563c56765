// SPDX-License-Identifier: Apache-2.0
//
// Swing allreduce of whole vectors: recursive doubling between the partners of `swing`, the farthest first.
//
// With p = 4 and the vector of rank r written r:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0         1         2         3
//   step 1   03        12        12        03        0 with 3, round the end, 1 with 2
//   step 2   0312      0312      0312      0312      0 with 1, 2 with 3
//
// The two of a pair reduce in the same order, so that all ranks get the same bits, though not in the order of the
// ranks. For short vectors where `swing` is for long ones.

#include "allreduce/whole_vectors.hpp"

namespace chorus::allreduce_swing_whole {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "swing_whole",
    .summary = "pairs swap whole vectors, with partners ahead and behind in turn: fewest messages over short distances",
    .source = "De Sensi, Bonato, Saam and Hoefler, NSDI 2024",
    .applies = applies,
    .traffic = allreduce_whole_vectors::traffic<Swing>,
    .run = allreduce_whole_vectors::run<Swing>,
};

}  // namespace chorus::allreduce_swing_whole
