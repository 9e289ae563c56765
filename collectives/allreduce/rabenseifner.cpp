// SPDX-License-Identifier: Apache-2.0
//
// Rabenseifner's allreduce: reduce-scatter by halving the vector, then allgather by the same steps backwards.
//
// In each step two ranks share out the piece they both hold: each sends the other one half and reduces the half it
// keeps. The first partner is the nearest, as the first message is the longest. With p = 4 and blocks 0..3:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0123      0123      0123      0123
//   step 1   01        23        01        23        0 with 1, 2 with 3: half of the vector each way
//   step 2   0         2         1         3         0 with 2, 1 with 3: a quarter; each block is now finished
//   step 3   01        23        01        23        0 with 2, 1 with 3: backwards, the finished blocks are gathered
//   step 4   0123      0123      0123      0123      0 with 1, 2 with 3
//
// Best for long vectors where p is a power of two: least bytes in 2 log2(p) messages. Otherwise (Fold) ranks 1, 3, ...
// first give their vectors to their left neighbours and get the result from them, which doubles the bytes: there
// `circulant` and `ring` are better for long vectors.

#include "allreduce/by_halves.hpp"

namespace chorus::allreduce_rabenseifner {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "rabenseifner",
    .summary = "halves the vector to reduce it and doubles it to gather it: least bytes in few messages",
    .source = "Rabenseifner, Int. Conf. on Computational Science (ICCS), 2004",
    .applies = applies,
    .traffic = allreduce_by_halves::traffic<Doubling>,
    .run = allreduce_by_halves::run<Doubling>,
};

}  // namespace chorus::allreduce_rabenseifner
