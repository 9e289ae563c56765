// SPDX-License-Identifier: Apache-2.0
//
// Slot allreduce: every rank copies its data into its slot of the shared memory, arrives, and reduces the slots of all
// ranks itself, in the order of the ranks (one shot: one round).
//
// Every rank reads p vectors, so it is for lengths at which a second round costs more than reading: some 16 KiB with
// two ranks, less with more.

#include "allreduce/one_shot.hpp"

namespace chorus::allreduce_slot {

using OneShot = OneRoundInSlot<allreduce_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its data into shared memory and reduces everybody's: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = allreduce_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::allreduce_slot
