// SPDX-License-Identifier: Apache-2.0
//
// Reduce_scatter_block by lanes (reduction_by_lanes.hpp): short and long blocks, for nodes with equal numbers of ranks.

#include "reduction_by_lanes.hpp"

namespace chorus::reduce_scatter_block_lanes {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "lanes",
    .summary = "each rank of a node reduces for the ranks with its place in the other nodes: long blocks",
    .source = "Traeff and Hunold, CLUSTER 2020 (full-lane collectives)",
    .applies = reduces_by_lanes,
    .traffic = traffic_of_reduction_by_lanes,
    .run = reduce_scatter_by_lanes,
    .arrives = true,
};

}  // namespace chorus::reduce_scatter_block_lanes
