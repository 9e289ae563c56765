// SPDX-License-Identifier: Apache-2.0
//
// Shared scatterv: The root puts all blocks into its slot of the shared memory; every other rank copies its own out.
// (sections.hpp)
//
// A table before the blocks says where each lies and how long it is, so that only who must know the lengths knows them.

#include "sections.hpp"

namespace chorus::scatterv_shared {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = through_memory(
    "the root passes the blocks through shared memory, and what is long by a single copy: all lengths in a node");

}  // namespace chorus::scatterv_shared
