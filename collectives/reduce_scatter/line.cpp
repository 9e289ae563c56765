// SPDX-License-Identifier: Apache-2.0
//
// Line reduce_scatter: every rank writes its vector into the cache line of its arrival; each reduces its block of
// all lines.
//
// For vectors that fit into a line.

#include "reduce_scatter/one_shot.hpp"

namespace chorus::reduce_scatter_line {

using OneShot = OneRoundInLine<reduce_scatter_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries vector and arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = reduce_scatter_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_line
