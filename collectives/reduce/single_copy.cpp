// SPDX-License-Identifier: Apache-2.0
//
// Single-copy reduce: each rank reduces a piece, which it reads from the memory of all others, and writes it into the
// memory of the root (single_copy_reduction.hpp).

#include "single_copy_reduction.hpp"

namespace chorus {

namespace reduce_shared {
extern const Algorithm algorithm;
}

namespace reduce_single_copy {
namespace {

bool applies(const Problem& problem) { return reduces_by_single_copy(problem, reduce_shared::algorithm); }

Task<> run(Transport& transport, Arguments arguments) {
  return reduce_by_single_copy(transport, arguments, reduce_shared::algorithm);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "single_copy",
    .summary =
        "each rank reduces a piece from the memory of all, and writes it into the root's: long vectors in a node",
    .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
    .applies = applies,
    .traffic = traffic_of_single_copy_reduction,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace reduce_single_copy
}  // namespace chorus
