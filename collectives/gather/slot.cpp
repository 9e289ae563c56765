// SPDX-License-Identifier: Apache-2.0
//
// Slot gather: every rank copies its block into its slot of the shared memory; the root copies them all out.
//
// The others go on at once. Each byte is copied twice: for short blocks; long ones go in pieces, side by side
// (`shared`).

#include "gather/one_shot.hpp"

namespace chorus::gather_slot {

using OneShot = OneRoundAhead<gather_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its block into shared memory, the root copies them out: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = gather_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::gather_slot
