// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical reduce_scatter: reduce inside every node, reduce_scatter between the nodes' first ranks of the blocks of
// each node together, scatterv inside every node.
//
// What crosses the network is reduced by node before, and so crosses once for a node and not once for a rank. Where the
// ranks of a node do not follow one another, the blocks are put in order, node by node, before that.

#include "phases.hpp"
#include "section_list.hpp"
#include "sections_of_nodes.hpp"

namespace chorus::reduce_scatter_hierarchical {
namespace {

constexpr Phase reduce_inside(std::size_t all) { return {Phase::Where::inside, Collective::reduce, all}; }
constexpr Phase between(std::size_t all) { return {Phase::Where::between, Collective::reduce_scatter, all}; }
constexpr Phase scatter_inside(std::size_t of_node) { return {Phase::Where::inside, Collective::scatterv, of_node}; }

Traffic traffic(const Problem& problem) {
  const std::size_t all = problem.call.count;
  const auto nodes = static_cast<std::size_t>(problem.nodes);
  return traffic_of(problem, {reduce_inside(all), between(all), scatter_inside((all + nodes - 1) / nodes)});
}

/// What a rank of the node gets of its first one, `first`, which has the blocks of all.
Task<> scatter(Transport& transport, Nodes& nodes, const SectionsOfNodes& packed, const std::byte* first,
               const Arguments& arguments) {
  const std::span<const Section> inside = packed.inside();
  SectionList gotten(transport, inside.size());
  SectionList none(transport, inside.size());
  none.fill({});
  gotten.fill({});
  gotten[0] = {0, inside[static_cast<std::size_t>(nodes.place())].bytes};
  co_await nodes.run(scatter_inside(packed.own().bytes / arguments.call.element_bytes()),
                     {.call = arguments.call,
                      .in = first,
                      .out = arguments.out,
                      .in_sections = nodes.speaks() ? inside : std::span<const Section>(none),
                      .out_sections = gotten});
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const SectionsOfNodes packed(transport, nodes, arguments.in_sections);
  const std::size_t count = arguments.call.count;
  const Scratch reduced = transport.scratch(nodes.speaks() ? packed.bytes() : 0);
  const Scratch ordered = transport.scratch(nodes.speaks() && !nodes.in_order() ? packed.bytes() : 0);
  const Scratch of_node = transport.scratch(nodes.speaks() ? packed.own().bytes : 0);

  Arguments reducing = arguments;
  reducing.in_sections = {};
  reducing.out = nodes.speaks() ? reduced.data() : nullptr;
  co_await nodes.run(reduce_inside(count), reducing);
  if (nodes.speaks()) {
    if (!nodes.in_order()) packed.pack(ordered.data(), reduced.data());
    reducing.in = nodes.in_order() ? reduced.data() : ordered.data();
    reducing.in_sections = packed.of_nodes();
    reducing.out = of_node.data();
    co_await nodes.run(between(count), reducing);
  }
  co_await scatter(transport, nodes, packed, of_node.data(), arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "reduce inside the nodes, reduce_scatter between their first ranks, scatterv inside the nodes",
    .source = "Zhu et al., EuroPVM/MPI 2009 (hierarchical collectives)",
    .applies = reduces_by_node,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::reduce_scatter_hierarchical
