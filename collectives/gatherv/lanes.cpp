// SPDX-License-Identifier: Apache-2.0
//
// Lanes gatherv: one rank of each node collects what all of it have for the root, and sends it in one message; long
// blocks go straight (section_lanes.hpp).

#include "section_lanes.hpp"

namespace chorus::gatherv_lanes {

extern const Algorithm algorithm;
constexpr Algorithm algorithm =
    by_lanes("one rank of each node sends what all of it have for the root, long blocks straight: many ranks");

}  // namespace chorus::gatherv_lanes
