// SPDX-License-Identifier: Apache-2.0
//
// Chain exscan: the reduction so far goes from rank to rank by messages, a segment at a time (prefix_chain.cpp).

#include "prefix.hpp"

namespace chorus::exscan_chain {

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "chain",
    .summary = "the sum so far goes from rank to rank, in segments: fewest bytes, for long vectors on few ranks",
    .source = "Sanders and Traeff, EuroPVM/MPI 2006 (pipelined linear scan)",
    .applies = prefix_chain::applies,
    .traffic = prefix_chain::traffic,
    .run = prefix_chain::run,
};

}  // namespace chorus::exscan_chain
