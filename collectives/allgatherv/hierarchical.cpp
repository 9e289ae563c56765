// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allgatherv: gatherv inside every node, allgatherv between the nodes' first ranks of what the nodes have,
// bcast of all blocks inside every node.
//
// Each block crosses the network once for a node and not once for a rank, and only one rank of each node sends
// messages. The blocks travel node by node, one behind the other, and each rank copies them to their places at the end.

#include "phases.hpp"
#include "reduction.hpp"
#include "section_list.hpp"

#include <span>

namespace chorus::allgatherv_hierarchical {
namespace {

/// Where the blocks stand while they travel.
class Packed {
 public:
  Packed(Transport& transport, const Nodes& nodes, std::span<const Section> blocks)
      : nodes_(nodes),
        blocks_(blocks),
        ranks_(transport, blocks.size()),
        of_nodes_(transport, nodes.sizes().size()),
        own_(transport, of_nodes_.size()) {
    std::size_t rank = 0;
    std::size_t node = 0;
    for (const int ranks : nodes.sizes()) {
      const std::size_t begin = bytes_;
      for (int place = 0; place < ranks; ++place, ++rank) {
        const std::size_t block = blocks[static_cast<std::size_t>(nodes.ranks()[rank])].bytes;
        ranks_[rank] = {bytes_, block};
        bytes_ += block;
      }
      of_nodes_[node++] = {begin, bytes_ - begin};
    }
    own_.fill(of_nodes_[static_cast<std::size_t>(nodes.number())]);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::span<const Section> of_nodes() const { return of_nodes_; }
  /// That of this node, as what it gives to each.
  [[nodiscard]] std::span<const Section> own() const { return own_; }
  /// Those of the ranks of this node.
  [[nodiscard]] std::span<const Section> inside() const {
    const auto first = static_cast<std::size_t>(nodes_.before(nodes_.number()));
    return std::span<const Section>(ranks_).subspan(
        first, static_cast<std::size_t>(nodes_.sizes()[static_cast<std::size_t>(nodes_.number())]));
  }
  void unpack(std::byte* out, const std::byte* packed) const {
    for (std::size_t place = 0; place < ranks_.size(); ++place) {
      const Section& block = blocks_[static_cast<std::size_t>(nodes_.ranks()[place])];
      copy_unless_same(out + block.offset, packed + ranks_[place].offset, block.bytes);
    }
  }

 private:
  const Nodes& nodes_;
  std::span<const Section> blocks_;
  std::size_t bytes_ = 0;
  SectionList ranks_;  // node by node
  SectionList of_nodes_;
  SectionList own_;
};

Traffic traffic(const Problem& problem) {
  const std::size_t all = problem.call.count;
  const auto nodes = static_cast<std::size_t>(problem.nodes);
  return traffic_of(problem, {{Phase::Where::inside, Collective::gatherv, (all + nodes - 1) / nodes},
                              {Phase::Where::between, Collective::allgatherv, all},
                              {Phase::Where::inside, Collective::bcast, all}});
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const Packed packed(transport, nodes, arguments.out_sections);
  const std::size_t element = arguments.call.element_bytes();
  const Scratch all = transport.scratch(packed.bytes());
  const std::span<const Section> inside = packed.inside();
  SectionList to_first(transport, inside.size());
  to_first.fill({});
  to_first[0] = arguments.in_sections[0];

  co_await nodes.run(
      {Phase::Where::inside, Collective::gatherv, packed.own()[0].bytes / element},
      {.call = arguments.call, .in = arguments.in, .out = all.data(), .in_sections = to_first, .out_sections = inside});
  const Arguments together{.call = arguments.call, .in = all.data(), .out = all.data()};
  if (nodes.speaks()) {
    Arguments between = together;
    between.in_sections = packed.own();
    between.out_sections = packed.of_nodes();
    co_await nodes.run({Phase::Where::between, Collective::allgatherv, packed.bytes() / element}, between);
  }
  co_await nodes.run({Phase::Where::inside, Collective::bcast, packed.bytes() / element}, together);
  packed.unpack(arguments.out, all.data());
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "gatherv inside the nodes, allgatherv between their first ranks, bcast inside the nodes",
    .source = "Zhu et al., Cluster Computing 2009 (SMP-aware collectives)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allgatherv_hierarchical
