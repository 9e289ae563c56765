// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical alltoall: every node's first rank gathers the blocks of its ranks, the first ranks exchange what goes
// from node to node, and each deals out what has come.
//
// With two nodes of two ranks, 0 1 and 2 3, and ab for the block from rank a to rank b:
//
//             rank 0                     rank 1         rank 2                     rank 3
//   inside    00 01 02 03 10 11 12 13                   20 21 22 23 30 31 32 33
//   between   00 01 10 11 20 21 30 31                   02 03 12 13 22 23 32 33
//   inside    00 10 20 30                01 11 21 31    02 12 22 32                03 13 23 33
//
// One message from each node to each other one, for the shortest blocks: the first rank handles all that its node sends
// and gets. Longer blocks go by `lanes` or, each by itself, `pairwise`.

#include "phases.hpp"
#include "reduction.hpp"
#include "section_list.hpp"

namespace chorus::alltoall_hierarchical {
namespace {

Phase gather_inside(std::size_t all) { return {Phase::Where::inside, Collective::gather, all}; }
Phase scatter_inside(std::size_t all) { return {Phase::Where::inside, Collective::scatter, all}; }

/// Tells `copy` of every block between this node and all others, in blocks: where it stands among those of this node's
/// ranks, which are sorted by the rank at the other end; in what is sent to the other node; in what comes from there.
template <class Copy>
void for_each_block(const Nodes& nodes, Copy copy) {
  const auto own = static_cast<std::size_t>(nodes.sizes()[static_cast<std::size_t>(nodes.number())]);
  const std::size_t ranks = nodes.ranks().size();
  std::size_t first = 0;
  for (const int size : nodes.sizes()) {
    const auto others = static_cast<std::size_t>(size);
    for (std::size_t mine = 0; mine < own; ++mine) {
      for (std::size_t other = 0; other < others; ++other) {
        const std::size_t by_rank = mine * ranks + static_cast<std::size_t>(nodes.ranks()[first + other]);
        copy(by_rank, first * own + mine * others + other, first * own + other * own + mine);
      }
    }
    first += others;
  }
}

/// Uneven nodes: as of the fullest one, so that all choose alike.
Phase alltoall_between(const Problem& whole) {
  Phase phase = between_nodes(whole, Collective::alltoall, Collective::alltoallv);
  phase.count *= static_cast<std::size_t>(whole.largest_node);
  return phase;
}

Traffic traffic(const Problem& problem) {
  const std::size_t all = problem.call.count * static_cast<std::size_t>(problem.ranks);
  return traffic_of(problem, {gather_inside(all), alltoall_between(problem), scatter_inside(all)});
}

/// The exchange between the first ranks, from `sent` to `received`.
Task<> exchange(Transport& transport, Nodes& nodes, const Call& call, const std::byte* sent, std::byte* received) {
  const auto own = static_cast<std::size_t>(nodes.sizes()[static_cast<std::size_t>(nodes.number())]);
  Arguments arguments{.call = call, .in = sent, .out = received};
  SectionList sections(transport, nodes.equally_large() ? 0 : nodes.sizes().size());
  if (!nodes.equally_large()) {
    std::size_t offset = 0;
    for (std::size_t node = 0; node < sections.size(); ++node) {
      sections[node] = {offset, own * static_cast<std::size_t>(nodes.sizes()[node]) * call.bytes()};
      offset += sections[node].bytes;
    }
    arguments.in_sections = arguments.out_sections = sections;
  }
  co_await nodes.run(alltoall_between(nodes.whole()), arguments);
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const std::size_t block = arguments.call.bytes();
  const std::size_t all = static_cast<std::size_t>(transport.size()) * arguments.call.count;
  const auto node = static_cast<std::size_t>(transport.node()->size());
  const std::size_t bytes = nodes.speaks() ? node * static_cast<std::size_t>(transport.size()) * block : 0;
  const Scratch by_rank = transport.scratch(bytes);
  const Scratch sent = transport.scratch(bytes);
  const Scratch received = transport.scratch(bytes);

  co_await nodes.run(gather_inside(all), {.call = arguments.call, .in = arguments.in, .out = by_rank.data()});
  if (nodes.speaks()) {
    for_each_block(nodes, [&](std::size_t rank, std::size_t out, std::size_t /*in*/) {
      copy_unless_same(sent.data() + out * block, by_rank.data() + rank * block, block);
    });
    co_await exchange(transport, nodes, arguments.call, sent.data(), received.data());
    for_each_block(nodes, [&](std::size_t rank, std::size_t /*out*/, std::size_t in) {
      copy_unless_same(by_rank.data() + rank * block, received.data() + in * block, block);
    });
  }
  co_await nodes.run(scatter_inside(all), {.call = arguments.call, .in = by_rank.data(), .out = arguments.out});
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "one rank of each node gathers, exchanges with the other nodes and deals out: shortest blocks",
    .source = "Kumar, Mamidala and Panda, IPDPS 2008 (alltoall on multi-core systems)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::alltoall_hierarchical
