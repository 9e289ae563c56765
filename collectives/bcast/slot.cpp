// SPDX-License-Identifier: Apache-2.0
//
// Slot bcast: the root copies its data into its slot of the shared memory; the others copy it out.
//
// The root goes on at once; it waits for the others only when it is several calls ahead of them. For short messages;
// long ones go in pieces, one copied in while another is copied out (`shared`).

#include "bcast/one_shot.hpp"

namespace chorus::bcast_slot {

using OneShot = OneRoundAhead<bcast_one_shot::Steps>;

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "the root copies its data into shared memory, the others copy it out: short messages in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = OneShot::applies,
    .traffic = bcast_one_shot::traffic,
    .run = OneShot::run,
    .now = OneShot::now,
    .halves = &OneShot::halves,
    .arrives = true,
};

}  // namespace chorus::bcast_slot
