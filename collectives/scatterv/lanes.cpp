// SPDX-License-Identifier: Apache-2.0
//
// Lanes scatterv: the root sends one message to each other node with the blocks of all its ranks; the first rank there
// passes them on. Long blocks go straight (section_lanes.hpp).

#include "section_lanes.hpp"

namespace chorus::scatterv_lanes {

extern const Algorithm algorithm;
constexpr Algorithm algorithm = by_lanes(
    "the root sends one message to each node with the blocks of all its ranks, long blocks straight: many ranks",
    scatter_by_lanes);

}  // namespace chorus::scatterv_lanes
