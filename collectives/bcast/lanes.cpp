// SPDX-License-Identifier: Apache-2.0
//
// Broadcast by lanes: the root gives each rank of its node a share of the data, each sends its share to the ranks that
// have the same place in the other nodes, and in every node the ranks put the shares together.
//
// With two nodes of two ranks, 0 1 and 2 3, root 0 and data A B:
//
//             rank 0     rank 1     rank 2     rank 3
//   inside    A B        B
//   along     A B        B          A          B          lane 0 are the ranks 0 and 2, lane 1 the ranks 1 and 3
//   inside    A B        A B        A B        A B
//
// The data crosses the network once for each node, as by `hierarchical`, but by all ranks of a node, so that several
// cores and network cards work; and the phases of different segments of long data go on at a time. Where nodes have
// unequal numbers of ranks there are as many lanes as the smallest has. Short data takes more messages than it needs.

#include "lanes.hpp"

namespace chorus::bcast_lanes {
namespace {

constexpr InLanes in_lanes{
    .into = Collective::scatter, .between = Collective::bcast, .together = Collective::allgather};

bool applies(const Problem& problem) { return has_lanes(problem); }

Traffic traffic(const Problem& problem) { return in_lanes.traffic(problem); }

Task<> run(Transport& transport, Arguments arguments) { return in_lanes.run(transport, arguments); }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "lanes",
    .summary = "each rank of a node takes a share of the data across the network: long data",
    .source = "Traeff and Hunold, CLUSTER 2020 (full-lane collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::bcast_lanes
