// SPDX-License-Identifier: Apache-2.0
//
// Bine reduction: up the tree of the Bine broadcast, whose ways are shorter than those of a binomial tree.
//
// With p = 8 and root 0 (for another root the ranks are counted from it):
//
//   round 1   1->0 6->7 2->3 5->4
//   round 2   7->0 4->3
//   round 3   3->0
//
// For short vectors where the Bine broadcast (`bine` of bcast) is for short data. The ranks are not joined in order.

#include "bine_tree.hpp"
#include "reduce/up_tree.hpp"

namespace chorus::reduce_bine {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "bine",
    .summary = "reduces up a tree from ranks ahead and behind in turn: fewest rounds over short distances",
    .source = "De Sensi et al., SC 2025 (Bine trees); arXiv:2508.17311",
    .applies = applies,
    .traffic = reduce_up_tree::traffic<BineTree>,
    .run = reduce_up_tree::run<BineTree>,
};

}  // namespace chorus::reduce_bine
