// SPDX-License-Identifier: Apache-2.0
//
// Slot reduce: every rank copies its data into its slot of the shared memory; the root reduces the slots of all ranks,
// in the order of the ranks.
//
// The others go on at once. The root reads p vectors: for short ones; long ones go in pieces, side by side (`shared`).

#include "reduce/one_shot.hpp"

namespace chorus::reduce_slot {

using OneShot = OneRoundAhead<reduce_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its data into shared memory, the root reduces it: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = reduce_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_slot
