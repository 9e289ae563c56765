// SPDX-License-Identifier: Apache-2.0
//
// Slot reduce_scatter: every rank copies its vector into its slot of the shared memory; each reduces its block of all
// slots.
//
// For vectors that fit into a slot; longer ones go a slot's length at a time (`shared`).

#include "reduce_scatter/one_shot.hpp"

namespace chorus::reduce_scatter_slot {

using OneShot = OneRoundInSlot<reduce_scatter_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its vector into shared memory and reduces its block of all: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = reduce_scatter_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_slot
