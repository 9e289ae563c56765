// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "phases.hpp"

namespace chorus {

// reduce_scatter_block and reduce_scatter by lanes: in every node each rank reduces the blocks for the ranks that have
// the same place as it in their nodes, and these reduce what the nodes have.
//
// With two nodes of two ranks, 0 1 and 2 3, and ab for what rank a gives to block b:
//
//             rank 0           rank 1           rank 2           rank 3
//   inside    00+10  02+12     01+11  03+13     20+30  22+32     21+31  23+33     from a copy in this order
//   along     block 0          block 1          block 2          block 3
//
// Each block crosses the network once for each node, as by `hierarchical`, but by all ranks of a node, so that several
// cores and network cards work; and while a segment of long blocks goes along the lanes, the next one is reduced
// inside. For nodes with equal numbers of ranks.

[[nodiscard]] bool reduces_by_lanes(const Problem& problem);
[[nodiscard]] Traffic traffic_of_reduction_by_lanes(const Problem& problem);
[[nodiscard]] Task<> reduce_scatter_by_lanes(Transport& transport, Arguments arguments);

}  // namespace chorus
