// SPDX-License-Identifier: Apache-2.0
//
// K-nomial reduction: as the binomial one, but each rank gets what three others have reduced at a time.
//
// With p = 6 and root 0 (for another root the ranks are counted from it):
//
//   round 1   1->0 2->0 3->0   5->4
//   round 2   4->0                      0 has 012345
//
// A function that does not commute is joined up the tree of rank 0, in the order of the ranks, and the result is sent
// on to the root.
//
// Best for short vectors where messages take their time on the way: half the rounds of `binomial`, and the root gets
// and reduces up to three vectors in each. Right for any p.

#include "knomial_tree.hpp"
#include "reduce/up_tree.hpp"

namespace chorus::reduce_knomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "knomial",
    .summary = "reduces up a tree, three vectors at a time: half the rounds of a binomial tree",
    .source = "Wilkins et al., CLUSTER 2023 (generalized collective algorithms)",
    .applies = applies,
    .traffic = reduce_up_tree::traffic<KnomialTree>,
    .run = reduce_up_tree::run<KnomialTree>,
};

}  // namespace chorus::reduce_knomial
