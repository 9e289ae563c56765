// SPDX-License-Identifier: Apache-2.0
//
// Slot allgather: every rank copies its block into its slot of the shared memory and copies everybody's out.
//
// One round. Each byte is copied twice: for short blocks.

#include "allgather/one_shot.hpp"

namespace chorus::allgather_slot {

using OneShot = OneRoundInSlot<allgather_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its block into shared memory and everybody's out: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = allgather_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::allgather_slot
