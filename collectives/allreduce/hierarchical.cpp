// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allreduce: reduce inside every node, allreduce between the nodes' first ranks, bcast inside every node.
//
// Of p ranks on N nodes only N take part in what crosses the network, so a short message takes log N network latencies
// instead of log p, and a long one crosses once a node and not once a rank. The phases inside a node go through its
// shared memory. Each phase is the algorithm that is fastest for it by the model.

#include "phases.hpp"

namespace chorus::allreduce_hierarchical {
namespace {

constexpr Phase reduce_inside(std::size_t count) { return {Phase::Where::inside, Collective::reduce, count}; }
constexpr Phase allreduce_between(std::size_t count) { return {Phase::Where::between, Collective::allreduce, count}; }
constexpr Phase bcast_inside(std::size_t count) { return {Phase::Where::inside, Collective::bcast, count}; }

bool applies(const Problem& problem) { return has_nodes(problem) && problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const std::size_t count = problem.call.count;
  return traffic_of(problem, {reduce_inside(count), allreduce_between(count), bcast_inside(count)});
}

Task<> run(Transport& transport, Arguments arguments) {
  Nodes nodes(transport, arguments);
  const std::size_t count = arguments.call.count;
  Arguments reduced = arguments;
  if (!nodes.speaks()) reduced.out = nullptr;
  co_await nodes.run(reduce_inside(count), reduced);
  arguments.in = arguments.out;
  if (nodes.speaks()) co_await nodes.run(allreduce_between(count), arguments);
  co_await nodes.run(bcast_inside(count), arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "reduce inside the nodes, allreduce between their first ranks, bcast inside the nodes",
    .source = "Karonis et al., IPDPS 2000; Zhu et al., Cluster Computing 2009 (SMP-aware collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allreduce_hierarchical
