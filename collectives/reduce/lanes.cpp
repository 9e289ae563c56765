// SPDX-License-Identifier: Apache-2.0
//
// Reduce by lanes: in every node each rank reduces its share of the vector, the ranks that have the same place in their
// nodes reduce these in the root's node, and there the root collects the shares.
//
// With two nodes of two ranks, 0 1 and 2 3, root 0, a vector A B and what rank r gives of A written rA:
//
//             rank 0     rank 1     rank 2     rank 3
//   inside    0A+1A      0B+1B      2A+3A      2B+3B
//   along     A          B                                lane 0 are the ranks 0 and 2, lane 1 the ranks 1 and 3
//   inside    A B
//
// As many bytes cross the network as by `hierarchical`, but all ranks of a node send and reduce them, so that several
// cores and network cards work; and the phases of different segments of a long vector go on at a time. Where nodes have
// unequal numbers of ranks there are as many lanes as the smallest has. Short vectors take more messages than they
// need.

#include "lanes.hpp"

namespace chorus::reduce_lanes {
namespace {

constexpr InLanes in_lanes{
    .into = Collective::reduce_scatter_block, .between = Collective::reduce, .together = Collective::gather};

bool applies(const Problem& problem) { return has_lanes(problem) && problem.call.commutes(); }

Traffic traffic(const Problem& problem) { return in_lanes.traffic(problem); }

Task<> run(Transport& transport, Arguments arguments) { return in_lanes.run(transport, arguments); }

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "lanes",
    .summary = "each rank of a node takes a share of the vector across the network: long vectors",
    .source = "Traeff and Hunold, CLUSTER 2020 (full-lane collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::reduce_lanes
