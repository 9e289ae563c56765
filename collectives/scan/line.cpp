// SPDX-License-Identifier: Apache-2.0
//
// Line scan and exscan: every rank writes its data into the cache line of its arrival and reduces those before it, for
// scan its own, too, in the order of the ranks.
//
// One round, in which a rank does not wait for those behind it. For what fits into a line.

#include "prefix_one_shot.hpp"

namespace chorus::scan_line {

using OneShot = OneRoundInLine<prefix_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary =
        "one cache line a rank carries data and arrival; each reads those before it: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = prefix_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::scan_line
