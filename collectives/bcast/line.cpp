// SPDX-License-Identifier: Apache-2.0
//
// Line bcast: the root writes its data into the cache line of its arrival; the others read it there.
//
// The root goes on at once; it waits for the others only when it is several calls ahead of them. For what fits into a
// line, and few ranks, as all of them read the one line.

#include "bcast/one_shot.hpp"

namespace chorus::bcast_line {

using OneShot = OneRoundInLine<bcast_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "the root's cache line carries data and arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = bcast_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::bcast_line
