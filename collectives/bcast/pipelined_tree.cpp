// SPDX-License-Identifier: Apache-2.0
//
// Pipelined tree broadcast: the data goes down a tree in segments; each rank passes on the segment that it got last to
// its children while it gets the next one.
//
// With p = 5, root 0, two children a rank (1 and 4 of 0, 2 and 3 of 1) and the segments A, B and C:
//
//   round 1   0 -A-> 1 4
//   round 2   0 -B-> 1 4   1 -A-> 2 3
//   round 3   0 -C-> 1 4   1 -B-> 2 3
//   round 4                1 -C-> 2 3
//
// Best for long data. With one child a rank the tree is a chain: each rank sends the data once, and the last has it p-2
// segments after the first. With d children it sends them d times, and the last waits for log_d(p) segments alone: for
// more ranks, or shorter data. How many children and segments the model says. For another root the ranks are counted
// from it.

#include "bcast/down_tree.hpp"

namespace chorus::bcast_pipelined_tree {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  return TreePipeline::best(problem.call, problem.ranks, problem.links).traffic(problem);
}

Task<> run(Transport& transport, Arguments arguments) {
  const TreePipeline pipeline = TreePipeline::best(arguments.call, transport.size(), arguments.links);
  DownTree tree(transport, arguments.call, arguments.out, pipeline);
  for (int number = 0; number < pipeline.segments; ++number) {
    co_await tree.comes(number);
    co_await tree.pass_on(number);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "pipelined_tree",
    .summary = "segments go down a chain or a tree of few children, passed on while the next ones come: long data",
    .source =
        "Barnett et al., Scalable High Performance Computing Conf., 1994 (chain); Sanders, Speck and Traeff, "
        "Parallel Comput. 35(12), 2009 (pipelined trees); as chain, pipeline and binary of Open MPI's tuned",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::bcast_pipelined_tree
