// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allgather: gather inside every node, allgather between the nodes' first ranks of what the nodes have,
// bcast of all blocks inside every node.
//
// Each block crosses the network once for a node and not once for a rank. Where the ranks of a node do not follow one
// another, blocks are collected node by node in other memory, and put in order at the end.

#include "blocks_of_nodes.hpp"
#include "phases.hpp"
#include "reduction.hpp"

namespace chorus::allgather_hierarchical {
namespace {

Phase gather_inside(std::size_t block) { return {Phase::Where::inside, Collective::gather, block}; }
Phase bcast_inside(std::size_t all) { return {Phase::Where::inside, Collective::bcast, all}; }

Traffic traffic(const Problem& problem) {
  const std::size_t block = problem.call.count;
  return traffic_of(problem, {gather_inside(block), BlocksOfNodes::allgather(problem),
                              bcast_inside(block * static_cast<std::size_t>(problem.ranks))});
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const std::size_t count = arguments.call.count;
  const std::size_t block = arguments.call.bytes();
  const auto ranks = static_cast<std::size_t>(transport.size());
  const bool in_place = arguments.in == arguments.out;
  const std::byte* const own = arguments.in + (in_place ? static_cast<std::size_t>(transport.rank()) * block : 0);
  const Scratch scratch = transport.scratch(nodes.in_order() ? 0 : ranks * block);
  std::byte* const all = nodes.in_order() ? arguments.out : scratch.data();
  std::byte* const of_node = all + nodes.place_of_own(block);

  co_await nodes.run(gather_inside(count),
                     {.call = arguments.call, .in = own, .out = nodes.speaks() ? of_node : nullptr});
  BlocksOfNodes blocks(transport, nodes, arguments.call);
  if (nodes.speaks()) co_await nodes.run(BlocksOfNodes::allgather(nodes.whole()), blocks.allgather_in(all));
  co_await nodes.run(bcast_inside(count * ranks), {.call = arguments.call, .in = all, .out = all});
  if (nodes.in_order()) co_return;
  nodes.from_nodes_to_ranks(arguments.out, all, block);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "gather inside the nodes, allgather between their first ranks, bcast inside the nodes",
    .source = "Zhu et al., EuroPVM/MPI 2009 (hierarchical collectives)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allgather_hierarchical
