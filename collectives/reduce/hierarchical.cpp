// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical reduce: inside every node, then from one rank of every node to the root.
//
// A vector crosses the network once a node and not once a rank. The root speaks for its own node. Each phase is the
// algorithm that is fastest for it by the model.

#include "phases.hpp"

namespace chorus::reduce_hierarchical {
namespace {

constexpr Phase inside(std::size_t count) { return {Phase::Where::inside, Collective::reduce, count}; }
constexpr Phase between(std::size_t count) { return {Phase::Where::between, Collective::reduce, count}; }

bool applies(const Problem& problem) { return has_nodes(problem) && problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  return traffic_of(problem, {inside(problem.call.count), between(problem.call.count)});
}

Task<> run(Transport& transport, Arguments arguments) {
  const bool is_root = transport.rank() == arguments.call.root;
  Nodes nodes(transport, arguments, arguments.call.root);
  const Scratch scratch = transport.scratch(nodes.speaks() && !is_root ? arguments.call.bytes() : 0);
  Arguments of_node = arguments;
  of_node.out = !nodes.speaks() ? nullptr : is_root ? arguments.out : scratch.data();
  co_await nodes.run(inside(arguments.call.count), of_node);
  if (!nodes.speaks()) co_return;
  Arguments of_nodes = arguments;
  of_nodes.in = of_node.out;
  of_nodes.out = is_root ? arguments.out : nullptr;
  co_await nodes.run(between(arguments.call.count), of_nodes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "reduce inside the nodes, then to the root from one rank of each",
    .source = "Karonis et al., IPDPS 2000; Zhu et al., Cluster Computing 2009 (SMP-aware collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::reduce_hierarchical
