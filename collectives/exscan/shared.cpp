// SPDX-License-Identifier: Apache-2.0
//
// Shared exscan: the reduction so far goes from rank to rank through the shared memory, a segment at a time
// (prefix_shared.cpp).

#include "prefix.hpp"

namespace chorus::exscan_shared {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "the sum so far goes from rank to rank through shared memory, in segments: long messages in a node",
    .source = "Sanders and Traeff, EuroPVM/MPI 2006 (pipelined linear scan), here in shared memory",
    .applies = prefix_shared::applies,
    .traffic = prefix_shared::traffic,
    .run = prefix_shared::run,
    .arrives = true,
};

}  // namespace chorus::exscan_shared
