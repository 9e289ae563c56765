// SPDX-License-Identifier: Apache-2.0
//
// Binomial reduction: each rank reduces what its children in a binomial tree send, and sends that on to its parent.
//
// With p = 6 and root 0 (for another root the ranks are counted from it):
//
//   round 1   1->0  3->2  5->4
//   round 2   2->0              0 has 0123
//   round 3   4->0              0 has 012345
//
// A function that does not commute is joined up the tree of rank 0, in the order of the ranks, and the result is sent
// on to the root.
//
// Best for short vectors: log2(p) rounds, rounded up, for any p. The root takes in and reduces the whole vector in each
// of them: long vectors are better cut into blocks (`reduce_scatter_gather`).

#include "binomial_tree.hpp"
#include "reduce/up_tree.hpp"

namespace chorus::reduce_binomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "binomial",
    .summary = "reduces up a tree: fewest rounds, the whole vector in each",
    .source = "Johnsson and Ho, IEEE Trans. Comput. 38(9), 1989 (spanning binomial tree)",
    .applies = applies,
    .traffic = reduce_up_tree::traffic<BinomialTree>,
    .run = reduce_up_tree::run<BinomialTree>,
};

}  // namespace chorus::reduce_binomial
