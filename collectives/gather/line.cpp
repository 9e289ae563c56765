// SPDX-License-Identifier: Apache-2.0
//
// Line gather: every rank writes its block into the cache line of its arrival; the root reads them all.
//
// The others go on at once. For blocks that fit into a line.

#include "gather/one_shot.hpp"

namespace chorus::gather_line {

using OneShot = OneRoundInLine<gather_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries block and arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = gather_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::gather_line
