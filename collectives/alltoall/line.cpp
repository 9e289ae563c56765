// SPDX-License-Identifier: Apache-2.0
//
// Line alltoall: every rank writes its blocks into the cache line of its arrival and reads its own block in
// everybody's.
//
// One round. For blocks for the others that fit into a line together.

#include "alltoall/one_shot.hpp"

namespace chorus::alltoall_line {

using OneShot = OneRoundInLine<alltoall_one_shot::Steps, Holds::blocks_for_others>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries its blocks and its arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = alltoall_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::alltoall_line
