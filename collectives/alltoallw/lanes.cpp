// SPDX-License-Identifier: Apache-2.0
//
// Lanes alltoallw: each rank of a node collects what all of it have for one rank of each other node, and sends it in
// one message; long blocks go straight (section_lanes.hpp).

#include "section_lanes.hpp"

namespace chorus::alltoallw_lanes {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = by_lanes(
    "each rank of a node sends what all of it have for one rank of each other node, long blocks straight: many ranks");

}  // namespace chorus::alltoallw_lanes
