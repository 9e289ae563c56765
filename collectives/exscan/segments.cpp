// SPDX-License-Identifier: Apache-2.0
//
// Segments exscan: every rank reduces what the ranks before it show in shared memory, a segment at a time
// (prefix_segments.cpp).

#include "prefix.hpp"

namespace chorus::exscan_segments {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "segments",
    .summary = "every rank reads the segments of those before it in shared memory: long exact sums in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = prefix_segments::applies,
    .traffic = prefix_segments::traffic,
    .run = prefix_segments::run,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::exscan_segments
