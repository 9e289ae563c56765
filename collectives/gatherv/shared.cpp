// SPDX-License-Identifier: Apache-2.0
//
// Shared gatherv: Every rank but the root puts its block into its slot of the shared memory; the root copies them out.
// (sections.hpp)
//
// A table before the blocks says where each lies and how long it is, so that only who must know the lengths knows them.

#include "sections.hpp"

namespace chorus::gatherv_shared {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = through_memory(
    "every rank passes its block to the root through shared memory, and what is long by a single copy: all lengths "
    "in a node");

}  // namespace chorus::gatherv_shared
