// SPDX-License-Identifier: Apache-2.0
//
// Slot alltoall: every rank copies its blocks into its slot of the shared memory, and its own block out of everybody's.
//
// One round, of large steps: for blocks for the others that fit into a slot together.

#include "alltoall/one_shot.hpp"

namespace chorus::alltoall_slot {

using OneShot = OneRoundInSlot<alltoall_one_shot::Steps, Holds::blocks_for_others>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its blocks into shared memory and fetches those for it: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = alltoall_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::alltoall_slot
