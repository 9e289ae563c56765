// SPDX-License-Identifier: Apache-2.0
//
// Line reduce: every rank writes its data into the cache line of its arrival; the root reads and reduces them all, in
// the order of the ranks.
//
// The others go on at once. For what fits into a line.

#include "reduce/one_shot.hpp"

namespace chorus::reduce_line {

using OneShot = OneRoundInLine<reduce_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries data and arrival; the root reduces: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = reduce_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_line
