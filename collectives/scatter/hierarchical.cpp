// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical scatter: from the root to one rank of every other node, then inside every node.
//
// With two nodes of two ranks, 0 1 and 2 3, root 0 and block b for rank b:
//
//             rank 0     rank 1     rank 2     rank 3
//   between   0 1 2 3               2 3
//   inside    0          1          2          3
//
// The root sends one message to each node and not one to each rank: for short blocks. It speaks for its own node. Where
// the ranks of a node do not follow one another, it puts the blocks in order, node by node, before that.

#include "blocks_of_nodes.hpp"
#include "phases.hpp"

namespace chorus::scatter_hierarchical {
namespace {

Phase scatter_inside(std::size_t block) { return {Phase::Where::inside, Collective::scatter, block}; }

Traffic traffic(const Problem& problem) {
  const std::size_t block = problem.call.count;
  return traffic_of(problem, {BlocksOfNodes::scatter(problem), scatter_inside(block)});
}

Task<> run(Transport& transport, Arguments arguments) {
  const int root = arguments.call.root;
  const bool is_root = transport.rank() == root;
  Nodes nodes(transport, arguments, root);
  BlocksOfNodes blocks(transport, nodes, arguments.call);
  const std::size_t block = arguments.call.bytes();
  const std::size_t all_bytes = static_cast<std::size_t>(transport.size()) * block;
  const bool straight = is_root && nodes.in_order();
  const Scratch scratch = transport.scratch(straight || !nodes.speaks() ? 0 : is_root ? all_bytes : blocks.own().bytes);
  if (is_root && !straight) nodes.from_ranks_to_nodes(scratch.data(), arguments.in, block);
  // A phase whose root keeps its own blocks does not write to them.
  std::byte* const all = straight ? const_cast<std::byte*>(arguments.in) : is_root ? scratch.data() : nullptr;
  std::byte* const of_node = is_root ? all + nodes.place_of_own(block) : scratch.data();

  if (nodes.speaks())
    co_await nodes.run(BlocksOfNodes::scatter(nodes.whole()), blocks.scatter_from(nodes.node_of(root), all, of_node));
  const bool in_place = is_root && arguments.in == arguments.out;
  co_await nodes.run(
      scatter_inside(arguments.call.count),
      {.call = arguments.call, .in = nodes.speaks() ? of_node : nullptr, .out = in_place ? of_node : arguments.out});
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "from the root to one rank of each node, then inside the nodes",
    .source = "Karonis et al., IPDPS 2000 (multilevel topology-aware collectives)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::scatter_hierarchical
