// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allreduce: reduce inside every node, allreduce between the nodes' leaders, bcast inside every node.
//
// Of p ranks on N nodes only N take part in what crosses the network, so a short message takes log N network latencies
// instead of log p, and a long one crosses once a node and not once a rank. The phases inside a node go through its
// shared memory. Each phase is the algorithm that is fastest for it by the model.

#include "carry_out.hpp"
#include "choose.hpp"
#include "reduction.hpp"

namespace chorus::allreduce_hierarchical {
namespace {

/// The problem of one phase: `collective` on `ranks` ranks of the same kind.
Problem phase(const Problem& whole, Collective collective, int ranks, bool inside_node) {
  Problem problem{.call = whole.call, .ranks = ranks, .nodes = inside_node ? 1 : ranks};
  problem.call.collective = collective;
  problem.call.root = 0;
  problem.largest_node = inside_node ? ranks : 1;
  problem.shared = inside_node;
  problem.slot_bytes = whole.slot_bytes;
  return problem;
}

/// The algorithm of a phase.
const Algorithm& fastest(const Problem& problem) { return chorus::fastest(problem, LinkModel()); }

bool applies(const Problem& problem) {
  return problem.nodes > 1 && problem.nodes < problem.ranks && problem.slot_bytes > 0 && problem.call.commutes();
}

Traffic traffic(const Problem& problem) {
  const Problem reduce = phase(problem, Collective::reduce, problem.largest_node, true);
  const Problem between = phase(problem, Collective::allreduce, problem.nodes, false);
  const Problem bcast = phase(problem, Collective::bcast, problem.largest_node, true);
  const LevelTraffic in = fastest(reduce).traffic(reduce).shared;
  const LevelTraffic out = fastest(bcast).traffic(bcast).shared;
  return {.shared = {.messages = in.messages + out.messages, .bytes = in.bytes + out.bytes, .reduced = in.reduced},
          .messages = fastest(between).traffic(between).messages};
}

Task<> run(Transport& transport, Arguments arguments) {
  Transport& node = *transport.node();
  const bool leads = transport.leaders() != nullptr;
  const Problem whole = problem_of(arguments.call, transport);
  const std::size_t bytes = arguments.call.bytes();
  const Problem reduce = phase(whole, Collective::reduce, node.size(), true);
  const Problem bcast = phase(whole, Collective::bcast, node.size(), true);

  if (node.size() > 1) {
    Arguments in_node = arguments;
    in_node.call = reduce.call;
    if (!leads) in_node.out = nullptr;
    co_await fastest(reduce).run(node, in_node);
  } else {
    copy_unless_same(arguments.out, arguments.in, bytes);
  }
  if (leads) {
    const Problem between = phase(whole, Collective::allreduce, transport.leaders()->size(), false);
    Arguments of_leaders = arguments;
    of_leaders.call = between.call;
    of_leaders.in = arguments.out;
    co_await fastest(between).run(*transport.leaders(), of_leaders);
  }
  if (node.size() > 1) {
    const Arguments out_of_node{.call = bcast.call, .in = arguments.out, .out = arguments.out};
    co_await fastest(bcast).run(node, out_of_node);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "reduce inside the nodes, allreduce between their leaders, bcast inside the nodes",
    .source = "Karonis et al., IPDPS 2000; Zhu et al., Cluster Computing 2009 (SMP-aware collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allreduce_hierarchical
