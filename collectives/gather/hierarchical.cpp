// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical gather: inside every node, then from one rank of every node to the root.
//
// With two nodes of two ranks, 0 1 and 2 3, root 0 and block b of rank b:
//
//             rank 0     rank 1     rank 2     rank 3
//   inside    0 1                   2 3
//   between   0 1 2 3
//
// The root gets one message from each node and not one from each rank: for short blocks. It speaks for its own node.
// Where the ranks of a node do not follow one another, it puts the blocks in order at the end.

#include "blocks_of_nodes.hpp"
#include "phases.hpp"

namespace chorus::gather_hierarchical {
namespace {

Phase gather_inside(std::size_t block) { return {Phase::Where::inside, Collective::gather, block}; }

Traffic traffic(const Problem& problem) {
  const std::size_t block = problem.call.count;
  return traffic_of(problem, {gather_inside(block), BlocksOfNodes::gather(problem)});
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
  std::byte* const all = straight ? arguments.out : is_root ? scratch.data() : nullptr;
  std::byte* const of_node = is_root ? all + nodes.place_of_own(block) : scratch.data();
  const bool in_place = is_root && arguments.in == arguments.out;
  const std::byte* const own = arguments.in + (in_place ? static_cast<std::size_t>(root) * block : 0);

  co_await nodes.run(gather_inside(arguments.call.count),
                     {.call = arguments.call, .in = own, .out = nodes.speaks() ? of_node : nullptr});
  if (!nodes.speaks()) co_return;
  co_await nodes.run(BlocksOfNodes::gather(nodes.whole()), blocks.gather_to(nodes.node_of(root), of_node, all));
  if (is_root && !straight) nodes.from_nodes_to_ranks(arguments.out, all, block);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "inside the nodes, then to the root from one rank of each",
    .source = "Karonis et al., IPDPS 2000 (multilevel topology-aware collectives)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::gather_hierarchical
