// SPDX-License-Identifier: Apache-2.0
//
// Line allgather: every rank writes its block into the cache line of its arrival and reads everybody's.
//
// One round. For blocks that fit into a line.

#include "allgather/one_shot.hpp"

namespace chorus::allgather_line {

using OneShot = OneRoundInLine<allgather_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries block and arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = allgather_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::allgather_line
