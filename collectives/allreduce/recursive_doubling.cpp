// SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling: in each step two ranks swap all they have and both reduce it; the distance of the two doubles.
//
// With p = 4 and the vector of rank r written r:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0         1         2         3
//   step 1   01        01        23        23        0 with 1, 2 with 3
//   step 2   0123      0123      0123      0123      0 with 2, 1 with 3
//
// The two of a pair reduce in the order of their ranks, so that all ranks get the same bits. Best for short vectors:
// log2(p) steps, but every step carries the whole vector. Where p is no power of two (Fold), ranks 1, 3, ... first give
// their vectors to their left neighbours and get the result from them: two more messages.

#include "allreduce/whole_vectors.hpp"

namespace chorus::allreduce_recursive_doubling {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "recursive_doubling",
    .summary = "pairs swap whole vectors over doubling distances: fewest messages, most bytes",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = allreduce_whole_vectors::traffic<Doubling>,
    .run = allreduce_whole_vectors::run<Doubling>,
};

}  // namespace chorus::allreduce_recursive_doubling
