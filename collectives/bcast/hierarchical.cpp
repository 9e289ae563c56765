// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical broadcast: from the root to one rank of every other node, then inside every node.
//
// The data crosses the network once a node and not once a rank. The root speaks for its own node, so that wherever it
// is nothing is passed on twice. Each phase is the algorithm that is fastest for it by the model.

#include "phases.hpp"

namespace chorus::bcast_hierarchical {
namespace {

constexpr Phase between(std::size_t count) { return {Phase::Where::between, Collective::bcast, count}; }
constexpr Phase inside(std::size_t count) { return {Phase::Where::inside, Collective::bcast, count}; }

Traffic traffic(const Problem& problem) {
  return traffic_of(problem, {between(problem.call.count), inside(problem.call.count)});
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments, arguments.call.root);
  if (nodes.speaks()) co_await nodes.run(between(arguments.call.count), arguments);
  co_await nodes.run(inside(arguments.call.count), arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "bcast to one rank of each node, then inside the nodes",
    .source = "Karonis et al., IPDPS 2000 (multilevel topology-aware broadcast)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::bcast_hierarchical
