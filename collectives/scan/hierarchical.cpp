// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical scan and exscan: inside every node, whose last rank then has what the node gives; exscan of that over
// the nodes' last ranks; and each node joins what comes before it to all its results.
//
// With two nodes of two ranks, 0 1 and 2 3, the ranks whose data each rank of a scan has combined:
//
//             rank 0     rank 1     rank 2     rank 3
//   inside    0          01         2          23
//   between                                    01, kept beside 23
//   inside    0          01         012        0123
//
// Only the last ranks send messages, log2 of the number of nodes one after another. The order of the ranks is kept, so
// that operations need not commute; the ranks of a node must follow one another.

#include "phases.hpp"
#include "prefix.hpp"
#include "reduction.hpp"

namespace chorus::scan_hierarchical {
namespace {

constexpr Phase prefixes_inside(const Call& call) { return {Phase::Where::inside, call.collective, call.count}; }
constexpr Phase exscan_between(const Call& call) { return {Phase::Where::between, Collective::exscan, call.count}; }
constexpr Phase bcast_inside(const Call& call) { return {Phase::Where::inside, Collective::bcast, call.count}; }

bool applies(const Problem& problem) { return has_nodes(problem) && problem.in_order; }

Traffic traffic(const Problem& problem) {
  const Call& call = problem.call;
  Traffic traffic = traffic_of(problem, {prefixes_inside(call), exscan_between(call), bcast_inside(call)});
  traffic.shared.reduced += static_cast<double>(call.bytes());
  return traffic;
}

Task<> run(Transport& transport, Arguments arguments) {
  const std::size_t bytes = arguments.call.bytes();
  const bool own = has_own(arguments.call);
  const bool is_first = transport.node()->rank() == 0;
  Nodes nodes(transport, arguments, Nodes::Last());
  const Reduction reduction(arguments);
  const Bytes result(arguments.out, bytes);
  const Scratch before = transport.scratch(bytes);  // what the nodes before this one give
  const Scratch total = transport.scratch(nodes.speaks() && !own ? bytes : 0);

  if (nodes.speaks() && !own) copy_unless_same(total.data(), arguments.in, bytes);
  const bool alone = is_first && nodes.speaks();
  if (own || !alone) co_await nodes.run(prefixes_inside(arguments.call), arguments);
  if (nodes.speaks()) {
    Arguments of_node = arguments;
    if (!own && !is_first) reduction.into_right(result, total.bytes());
    of_node.in = own ? arguments.out : total.data();
    of_node.out = before.data();
    co_await nodes.run(exscan_between(arguments.call), of_node);
  }
  if (nodes.number() == 0) co_return;
  Arguments of_nodes = arguments;
  of_nodes.in = of_nodes.out = before.data();
  co_await nodes.run(bcast_inside(arguments.call), of_nodes);
  if (!own && is_first) {
    copy_unless_same(arguments.out, before.data(), bytes);
  } else {
    reduction.into_right(before.bytes(), result);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "inside the nodes, exscan over their last ranks, bcast inside the nodes",
    .source = "Sanders and Traeff, EuroPVM/MPI 2006 (on clusters of SMP nodes)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::scan_hierarchical
