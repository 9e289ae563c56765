// SPDX-License-Identifier: Apache-2.0
//
// Single-copy allreduce: each rank reduces a piece, which it reads from the memory of all others, and writes it into
// theirs (single_copy_reduction.hpp).

#include "single_copy_reduction.hpp"

namespace chorus {

namespace allreduce_shared {
extern const Algorithm algorithm;
}

namespace allreduce_single_copy {
namespace {

bool applies(const Problem& problem) { return reduces_by_single_copy(problem, allreduce_shared::algorithm); }

Task<> run(Transport& transport, Arguments arguments) {
  return reduce_by_single_copy(transport, arguments, allreduce_shared::algorithm);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "single_copy",
    .summary = "each rank reduces a piece from the memory of all, and writes it into theirs: long vectors in a node",
    .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
    .applies = applies,
    .traffic = traffic_of_single_copy_reduction,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace allreduce_single_copy
}  // namespace chorus
