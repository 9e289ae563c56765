// SPDX-License-Identifier: Apache-2.0
//
// Line reduce_scatter_block: every rank writes its blocks into the cache line of its arrival and reduces its own block
// of everybody's.
//
// One round. For blocks for the others that fit into a line together.

#include "reduce_scatter_block/one_shot.hpp"

namespace chorus::reduce_scatter_block_line {

using OneShot = OneRoundInLine<reduce_scatter_block_one_shot::Steps, Holds::blocks_for_others>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries its blocks and its arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = OneShot::applies,
    .traffic = reduce_scatter_block_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_block_line
