// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical barrier: the ranks of every node meet, then one rank of each meets the others, and tells its node.
//
// Of p ranks on N nodes only N send messages: log N rounds of the network.

#include "phases.hpp"

namespace chorus::barrier_hierarchical {
namespace {

constexpr Phase inside{Phase::Where::inside, Collective::barrier};
constexpr Phase between{Phase::Where::between, Collective::barrier};

Traffic traffic(const Problem& problem) { return traffic_of(problem, {inside, between, inside}); }

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  co_await nodes.run(inside, arguments);
  if (nodes.speaks()) co_await nodes.run(between, arguments);
  co_await nodes.run(inside, arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "the ranks of each node meet, then one of each node: few messages",
    .source = "Karonis et al., IPDPS 2000; Zhu et al., EuroPVM/MPI 2009 (hierarchical collectives)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::barrier_hierarchical
