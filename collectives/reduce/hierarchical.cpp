// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical reduce: inside every node, then from one rank of every node to the root.
//
// A vector crosses the network once a node and not once a rank. The root speaks for its own node. Each phase is the
// algorithm that is fastest for it by the model. A long vector is cut into segments: while one is between the nodes,
// the next one is reduced inside them.

#include "phases.hpp"

#include <vector>

namespace chorus::reduce_hierarchical {
namespace {

constexpr Phase reduce_inside(std::size_t count) { return {Phase::Where::inside, Collective::reduce, count}; }
constexpr Phase reduce_between(std::size_t count) { return {Phase::Where::between, Collective::reduce, count}; }

Traffic traffic_of_segments(const Problem& problem, const Segments& segments) {
  return traffic_of(problem, segments, [](std::size_t count) {
    return std::vector{reduce_inside(count), reduce_between(count)};
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
        is_root_(transport.rank() == arguments.call.root),
        nodes_(transport, arguments, arguments.call.root),
        segments_(fastest_segments(nodes_.whole(), traffic_of_segments)),
        of_node_(transport.scratch(nodes_.speaks() && !is_root_ ? arguments.call.bytes() : 0)) {}

  [[nodiscard]] std::size_t steps() const { return segments_.number() + 1; }

  Task<> inside(std::size_t step) {
    if (step >= segments_.number()) co_return;
    Arguments segment = arguments_;
    segment.in += offset(step);
    segment.out = nodes_.speaks() ? joined(step) : nullptr;
    co_await nodes_.run(reduce_inside(segments_.count(step)), segment);
  }
  Task<> between(std::size_t step) {
    if (!nodes_.speaks() || step < 1) co_return;
    Arguments segment = arguments_;
    segment.in = joined(step - 1);
    segment.out = is_root_ ? joined(step - 1) : nullptr;
    co_await nodes_.run(reduce_between(segments_.count(step - 1)), segment);
  }

 private:
  [[nodiscard]] std::size_t offset(std::size_t segment) const {
    return segments_.begin(segment) * arguments_.call.element_bytes();
  }
  /// A segment of what the ranks of this node have together, on the rank that speaks.
  [[nodiscard]] std::byte* joined(std::size_t segment) const {
    return (is_root_ ? arguments_.out : of_node_.data()) + offset(segment);
  }

  Arguments arguments_;
  bool is_root_;
  Nodes nodes_;
  Segments segments_;
  Scratch of_node_;
};

Task<> run(Transport& transport, Arguments arguments) {
  HierarchicalCall call(transport, arguments);
  co_await run_side_by_side(call, call.steps());
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "hierarchical",
    .summary = "reduce inside the nodes, then to the root from one rank of each",
    .source = "Karonis et al., IPDPS 2000; Zhu et al., EuroPVM/MPI 2009 (hierarchical collectives)",
    .applies = reduces_by_node,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::reduce_hierarchical
