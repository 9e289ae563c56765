// SPDX-License-Identifier: Apache-2.0
//
// Shared alltoallw: Every rank puts its blocks for the others into its slot of the shared memory and copies those for
// it out. (sections.hpp)
//
// A table before the blocks says where each lies and how long it is, so that only who must know the lengths knows them.

#include "sections.hpp"

namespace chorus::alltoallw_shared {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary =
        "every rank passes its blocks through shared memory, and what is long by messages: all lengths in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = fits_memory,
    .traffic = memory_traffic,
    .run = pass_through_memory,
    .now = pass_through_memory_now,
    .arrives = true,
};

}  // namespace chorus::alltoallw_shared
