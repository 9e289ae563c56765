// SPDX-License-Identifier: Apache-2.0
//
// Slot reduce_scatter_block: every rank copies the other ranks' blocks into its slot of the shared memory and reduces
// its own block of everybody's.
//
// One round. For blocks for the others that fit into a slot together; longer ones go a part at a time (`shared`).

#include "reduce_scatter_block/one_shot.hpp"

namespace chorus::reduce_scatter_block_slot {

using OneShot = OneRoundInSlot<reduce_scatter_block_one_shot::Steps, Holds::blocks_for_others>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its blocks into shared memory and reduces those for it: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = reduce_scatter_block_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_block_slot
