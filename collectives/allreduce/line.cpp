// SPDX-License-Identifier: Apache-2.0
//
// Line allreduce: every rank writes its data and its arrival into one cache line, reads the lines of all others and
// reduces them itself, in the order of the ranks.
//
// With 2 ranks one line travels each way, at the same time: nothing can be faster between two caches. With p ranks
// every line is read p-1 times, so it is for few ranks near each other, and for what fits into the line.

#include "allreduce/one_shot.hpp"

namespace chorus::allreduce_line {

using OneShot = OneRoundInLine<allreduce_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries data and arrival; every rank reduces all: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = allreduce_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::allreduce_line
