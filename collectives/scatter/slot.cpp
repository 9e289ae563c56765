// SPDX-License-Identifier: Apache-2.0
//
// Slot scatter: the root copies the blocks of the others into its slot of the shared memory; each copies its own out.
//
// The root does not wait for the others. For blocks of the others that fit into a slot together; longer ones go in
// parts (`shared`).

#include "scatter/one_shot.hpp"

namespace chorus::scatter_slot {

using OneShot = OneRoundAhead<scatter_one_shot::Steps, Holds::blocks_for_others>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "the root copies all blocks into shared memory, each rank copies its own out: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = scatter_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::scatter_slot
