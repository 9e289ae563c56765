// SPDX-License-Identifier: Apache-2.0
//
// Alltoall by lanes: in every node each rank gets from the others what goes to the ranks that have the same place as it
// in their nodes, and sends it to them.
//
// With two nodes of two ranks, 0 1 and 2 3, and ab for the block from rank a to rank b:
//
//             rank 0         rank 1         rank 2         rank 3
//   inside    00 02 10 12    01 03 11 13    20 22 30 32    21 23 31 33
//   along     00 10 20 30    01 11 21 31    02 12 22 32    03 13 23 33    between 0 and 2, and between 1 and 3
//
// Each rank sends N-1 messages between N nodes and not one to each rank, as many times longer: for short and medium
// blocks, which are copied a few times more than by `pairwise`. For nodes with equal numbers of ranks.

#include "phases.hpp"
#include "reduction.hpp"

namespace chorus::alltoall_lanes {
namespace {

bool applies(const Problem& problem) { return has_lanes(problem) && problem.smallest_node == problem.largest_node; }

Phase inside(std::size_t count) { return {Phase::Where::inside, Collective::alltoall, count}; }
Phase along(std::size_t count) { return {Phase::Where::along, Collective::alltoall, count}; }

Traffic traffic(const Problem& problem) {
  const std::size_t count = problem.call.count;
  return traffic_of(problem, {inside(count * static_cast<std::size_t>(problem.nodes)),
                              along(count * static_cast<std::size_t>(problem.largest_node))});
}

/// Block b of row a becomes block a of row b.
void transpose(std::byte* out, const std::byte* in, std::size_t rows, std::size_t columns, std::size_t block) {
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      copy_unless_same(out, in + (row * columns + column) * block, block);
      out += block;
    }
  }
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const std::size_t count = arguments.call.count;
  const std::size_t block = arguments.call.bytes();
  const std::size_t many = nodes.sizes().size();
  const auto lanes = static_cast<std::size_t>(nodes.lanes());
  const Scratch one = transport.scratch(many * lanes * block);
  const Scratch other = transport.scratch(many * lanes * block);
  const std::byte* by_node = arguments.in;
  if (!nodes.in_order()) {
    nodes.from_ranks_to_nodes(other.data(), arguments.in, block);
    by_node = other.data();
  }
  transpose(one.data(), by_node, many, lanes, block);
  co_await nodes.run(inside(count * many), {.call = arguments.call, .in = one.data(), .out = other.data()});
  transpose(one.data(), other.data(), lanes, many, block);
  std::byte* const result = nodes.in_order() ? arguments.out : other.data();
  co_await nodes.run(along(count * lanes), {.call = arguments.call, .in = one.data(), .out = result});
  if (!nodes.in_order()) nodes.from_nodes_to_ranks(arguments.out, result, block);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "lanes",
    .summary =
        "each rank of a node sends what all of its node have for one rank of each other node: short and medium blocks",
    .source = "Traeff and Hunold, CLUSTER 2020 (full-lane collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::alltoall_lanes
