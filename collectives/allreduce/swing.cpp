// SPDX-License-Identifier: Apache-2.0
//
// Swing allreduce: Rabenseifner's, but a rank's partners lie ahead and behind in turn, at 1, 1, 3, 5, 11, ... ranks.
//
// With p = 4 and blocks 0..3:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0123      0123      0123      0123
//   step 1   01        23        23        01        0 with 1, 2 with 3: half of the vector each way
//   step 2   0         2         3         1         0 with 3, 1 with 2, round the end; each block is now finished
//   step 3+4 the same steps backwards give each rank the others' finished blocks.
//
// Sends what `rabenseifner` sends, but over two thirds of its distances in the long run: better on tori and where fewer
// links lead out of a group of ranks than into it, if ranks are placed in the order of the network. Neither is in the
// model, which holds the two for equal: it is taken where it is named or was measured. Where p is no power of two
// (Fold) the bytes double, as there.

#include "allreduce/by_halves.hpp"

namespace chorus::allreduce_swing {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "swing",
    .summary = "halves and doubles the vector with partners ahead and behind in turn: least bytes over short distances",
    .source = "De Sensi, Bonato, Saam and Hoefler, NSDI 2024",
    .applies = applies,
    .traffic = allreduce_by_halves::traffic<Swing>,
    .run = allreduce_by_halves::run<Swing>,
};

}  // namespace chorus::allreduce_swing
