// SPDX-License-Identifier: Apache-2.0
//
// Shared alltoallw: Every rank puts its blocks for the others into its slot of the shared memory and copies those for
// it out. (sections.hpp)
//
// A table before the blocks says where each lies and how long it is, so that only who must know the lengths knows them.

#include "sections.hpp"

namespace chorus::alltoallw_shared {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = through_memory(
    "every rank passes its blocks through shared memory, and what is long by a single copy: all lengths in a node");

}  // namespace chorus::alltoallw_shared
