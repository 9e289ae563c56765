// SPDX-License-Identifier: Apache-2.0
//
// Slot scan and exscan: every rank copies its data into its slot of the shared memory and reduces those before it, for
// scan its own, too, in the order of the ranks.
//
// One round, in which a rank does not wait for those behind it. The last rank reads p vectors: for short ones.

#include "prefix_one_shot.hpp"

namespace chorus::scan_slot {

using OneShot = OneRoundAhead<prefix_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its data into shared memory and reads those before it: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = prefix_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::scan_slot
