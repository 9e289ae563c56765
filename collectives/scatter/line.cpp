// SPDX-License-Identifier: Apache-2.0
//
// Line scatter: the root writes all blocks into the cache line of its arrival; each rank reads its own there.
//
// The root does not wait for the others. For blocks for the others that fit into a line together.

#include "scatter/one_shot.hpp"

namespace chorus::scatter_line {

using OneShot = OneRoundInLine<scatter_one_shot::Steps, Holds::blocks_for_others>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line carries all blocks and the root's arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = scatter_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::scatter_line
