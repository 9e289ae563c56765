// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allgatherv: gatherv inside every node, allgatherv between the nodes' first ranks of what the nodes have,
// bcast of all blocks inside every node.
//
// Each block crosses the network once for a node and not once for a rank, and only one rank of each node sends
// messages. The blocks travel node by node, one behind the other, and each rank copies them to their places at the end.

#include "phases.hpp"
#include "section_list.hpp"
#include "sections_of_nodes.hpp"

#include <span>

namespace chorus::allgatherv_hierarchical {
namespace {

Traffic traffic(const Problem& problem) {
  const std::size_t all = problem.call.count;
  const auto nodes = static_cast<std::size_t>(problem.nodes);
  return traffic_of(problem, {{Phase::Where::inside, Collective::gatherv, (all + nodes - 1) / nodes},
                              {Phase::Where::between, Collective::allgatherv, all},
                              {Phase::Where::inside, Collective::bcast, all}});
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const SectionsOfNodes packed(transport, nodes, arguments.out_sections);
  const std::size_t element = arguments.call.element_bytes();
  const Scratch all = transport.scratch(packed.bytes());
  const std::span<const Section> inside = packed.inside();
  SectionList to_first(transport, inside.size());
  to_first.fill({});
  to_first[0] = arguments.in_sections[0];
  SectionList given(transport, packed.of_nodes().size());
  given.fill(packed.own());

  co_await nodes.run({Phase::Where::inside, Collective::gatherv, packed.own().bytes / element},
                     {.call = arguments.call,
                      .in = arguments.in,
                      .out = all.data() + packed.own().offset,
                      .in_sections = to_first,
                      .out_sections = inside});
  const Arguments together{.call = arguments.call, .in = all.data(), .out = all.data()};
  if (nodes.speaks()) {
    Arguments between = together;
    between.in_sections = given;
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
    .source = "Zhu et al., EuroPVM/MPI 2009 (hierarchical collectives)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allgatherv_hierarchical
