// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical scan: inside every node, then over the nodes, whose sums are joined to the results of the ranks behind
// them (prefix_hierarchical.cpp).

#include "prefix.hpp"

namespace chorus::scan_hierarchical {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "scan inside the nodes, exscan over their last ranks, bcast inside the nodes",
    .source = "Sanders and Traeff, EuroPVM/MPI 2006 (on clusters of SMP nodes)",
    .applies = prefix_hierarchical::applies,
    .traffic = prefix_hierarchical::traffic,
    .run = prefix_hierarchical::run,
};

}  // namespace chorus::scan_hierarchical
