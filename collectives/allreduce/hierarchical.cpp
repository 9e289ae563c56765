// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical allreduce: reduce inside every node, allreduce between the nodes' first ranks, bcast inside every node.
//
// Of p ranks on N nodes only N take part in what crosses the network, so a short message takes log N network latencies
// instead of log p, and a long one crosses once a node and not once a rank. The phases inside a node go through its
// shared memory. Each phase is the algorithm that is fastest for it by the model. A long vector is cut into segments,
// and while one is between the nodes, the one before is on its way to the ranks of each node, and the next one from
// them:
//
//            inside the nodes      between the nodes
//   step 0   reduce 0
//   step 1   reduce 1              allreduce 0
//   step 2   bcast 0, reduce 2     allreduce 1
//   step 3   bcast 1               allreduce 2
//   step 4   bcast 2

#include "phases.hpp"

#include <vector>

namespace chorus::allreduce_hierarchical {
namespace {

constexpr Phase reduce_inside(std::size_t count) { return {Phase::Where::inside, Collective::reduce, count}; }
constexpr Phase allreduce_between(std::size_t count) { return {Phase::Where::between, Collective::allreduce, count}; }
constexpr Phase bcast_inside(std::size_t count) { return {Phase::Where::inside, Collective::bcast, count}; }

Traffic traffic_of_segments(const Problem& problem, const Segments& segments) {
  return traffic_of(problem, segments, [](std::size_t count) {
    return std::vector{reduce_inside(count), allreduce_between(count), bcast_inside(count)};
  });
}

Traffic traffic(const Problem& problem) {
  return traffic_of_segments(problem, fastest_segments(problem, traffic_of_segments));
}

/// One call on one rank.
class HierarchicalCall {
 public:
  HierarchicalCall(Transport& transport, const Arguments& arguments)
      : arguments_(arguments),
        nodes_(transport, arguments),
        segments_(fastest_segments(nodes_.whole(), traffic_of_segments)) {}

  [[nodiscard]] std::size_t steps() const { return segments_.number() + 2; }

  Task<> inside(std::size_t step) {
    if (step >= 2) co_await nodes_.run(bcast_inside(segments_.count(step - 2)), joined(step - 2));
    if (step >= segments_.number()) co_return;
    Arguments segment = joined(step);
    segment.in = arguments_.in + offset(step);
    if (!nodes_.speaks()) segment.out = nullptr;
    co_await nodes_.run(reduce_inside(segments_.count(step)), segment);
  }
  Task<> between(std::size_t step) {
    if (!nodes_.speaks() || step < 1 || step > segments_.number()) co_return;
    co_await nodes_.run(allreduce_between(segments_.count(step - 1)), joined(step - 1));
  }

 private:
  [[nodiscard]] std::size_t offset(std::size_t segment) const {
    return segments_.begin(segment) * arguments_.call.element_bytes();
  }
  /// A segment of the result, in place.
  [[nodiscard]] Arguments joined(std::size_t segment) const {
    Arguments arguments = arguments_;
    arguments.in = arguments.out = arguments_.out + offset(segment);
    return arguments;
  }

  Arguments arguments_;
  Nodes nodes_;
  Segments segments_;
};

Task<> run(Transport& transport, Arguments arguments) {
  HierarchicalCall call(transport, arguments);
  co_await run_side_by_side(call, call.steps());
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "reduce inside the nodes, allreduce between their first ranks, bcast inside the nodes",
    .source = "Karonis et al., IPDPS 2000; Zhu et al., EuroPVM/MPI 2009 (hierarchical collectives)",
    .applies = reduces_by_node,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allreduce_hierarchical
