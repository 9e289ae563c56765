// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical reduce_scatter_block: reduce inside every node, reduce_scatter between the nodes' first ranks of the
// blocks of each node together, scatter inside every node.
//
// What crosses the network is reduced by node before, and so crosses once for a node and not once for a rank. Where the
// ranks of a node do not follow one another, the blocks are put in order, node by node, before that.

#include "blocks_of_nodes.hpp"
#include "phases.hpp"
#include "reduction.hpp"

namespace chorus::reduce_scatter_block_hierarchical {
namespace {

Phase reduce_inside(std::size_t all) { return {Phase::Where::inside, Collective::reduce, all}; }
Phase scatter_inside(std::size_t block) { return {Phase::Where::inside, Collective::scatter, block}; }

Traffic traffic(const Problem& problem) {
  const std::size_t block = problem.call.count;
  return traffic_of(problem, {reduce_inside(block * static_cast<std::size_t>(problem.ranks)),
                              BlocksOfNodes::reduce_scatter(problem), scatter_inside(block)});
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const std::size_t count = arguments.call.count;
  const std::size_t block = arguments.call.bytes();
  const std::size_t all = static_cast<std::size_t>(transport.size()) * block;
  const Scratch reduced = transport.scratch(nodes.speaks() ? all : 0);
  const Scratch ordered = transport.scratch(nodes.speaks() && !nodes.in_order() ? all : 0);
  const BlocksOfNodes blocks(transport, nodes, arguments.call);
  const Scratch of_node = transport.scratch(nodes.speaks() ? blocks.own().bytes : 0);

  Arguments reducing = arguments;
  reducing.out = nodes.speaks() ? reduced.data() : nullptr;
  co_await nodes.run(reduce_inside(count * static_cast<std::size_t>(transport.size())), reducing);
  if (nodes.speaks()) {
    if (!nodes.in_order()) nodes.from_ranks_to_nodes(ordered.data(), reduced.data(), block);
    reducing.in = nodes.in_order() ? reduced.data() : ordered.data();
    reducing.out = of_node.data();
    co_await nodes.run(BlocksOfNodes::reduce_scatter(nodes.whole()), blocks.reduce_scatter_of(reducing));
  }
  co_await nodes.run(scatter_inside(count), {.call = arguments.call, .in = of_node.data(), .out = arguments.out});
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "reduce inside the nodes, reduce_scatter between their first ranks, scatter inside the nodes",
    .source = "Zhu et al., EuroPVM/MPI 2009 (hierarchical collectives)",
    .applies = reduces_by_node,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::reduce_scatter_block_hierarchical
