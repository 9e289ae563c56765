// SPDX-License-Identifier: Apache-2.0
//
// Broadcast down a tree of nodes: the data goes from node to node in segments; each node spreads a segment among its
// ranks while it passes it on and gets the next one.
//
// With three nodes, for which the ranks A, B and C speak, root A, a chain of them and the segments 0, 1, 2:
//
//            between nodes          inside A   inside B   inside C
//   step 1   A -0-> B               0
//   step 2   A -1-> B   B -0-> C    1          0
//   step 3   A -2-> B   B -1-> C    2          1          0
//   step 4              B -2-> C               2          1
//   step 5                                                2
//
// Best for long data where a node's ranks take about as long for it as the network: only the last segment is spread
// after all has crossed the network. Inside a node the ranks share memory, or are a tree, too. The last node has the
// first segment after the steps of the way down to it, few where nodes pass data on to several others (range_tree.hpp).
// More segments make the steps shorter, and take more messages. How many children and segments the model says.

#include "bcast/down_tree.hpp"
#include "link_model.hpp"
#include "phases.hpp"
#include "task/when_all.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace chorus::bcast_tree_of_nodes {
namespace {

/// Of the tree inside a node whose ranks share no memory: there messages take little time.
constexpr int degree_inside = RangeTree::highest_degree;

bool shares_memory(const Problem& problem) { return problem.slot_bytes > 0; }

/// Of segment `number`, so many times.
Phase spread(const Call& call, const Blocks& segments, int number, int times = 1) {
  return {Phase::Where::inside, Collective::bcast, segments.bytes(number) / call.element_bytes(), times};
}

Traffic traffic_of_pipeline(const Problem& problem, const TreePipeline& pipeline) {
  const int segments = pipeline.segments;
  const Traffic inside = shares_memory(problem)
                             ? traffic_of(problem, {spread(problem.call, Blocks(problem.call, segments), 0, segments)})
                             : TreePipeline{degree_inside, segments}.traffic_inside(problem);
  Traffic all = pipeline.traffic_between(problem);

  // Nothing can be spread while the first segment is awaited: that hides nothing.
  const LinkModel& links = links_of(problem);
  Traffic passed = all;
  passed.waited = {};
  const double inside_us = links.microseconds(inside, problem);
  const double hidden_us = std::min(inside_us, links.microseconds(passed, problem)) * (segments - 1) / segments;
  if (inside_us > 0) all.overlap = hidden_us / std::min(inside_us, links.microseconds(all, problem));
  all.shared = inside.shared;
  all.arrivals = inside.arrivals;
  all.inside = inside.inside;
  all.inside_together = inside.inside_together;
  return all;
}

/// With as many children as are best between the nodes, and segments as are best with what goes on inside them.
TreePipeline best_of(const Problem& problem) {
  TreePipeline pipeline = TreePipeline::best(problem.call, problem.nodes, problem.links);
  double least_us = std::numeric_limits<double>::infinity();
  TreePipeline next{pipeline.degree, TreePipeline::fewest_segments(problem.call)};
  for (; next.segments <= TreePipeline::most_segments(problem.call); next.segments *= 2) {
    const double us = links_of(problem).microseconds(traffic_of_pipeline(problem, next), problem);
    if (us >= least_us) break;
    pipeline = next;
    least_us = us;
  }
  return pipeline;
}

Traffic traffic(const Problem& problem) { return traffic_of_pipeline(problem, best_of(problem)); }

/// One call on one rank.
class TreeCall {
 public:
  TreeCall(Transport& transport, const Arguments& arguments)
      : arguments_(arguments),
        nodes_(transport, arguments, arguments.call.root),
        pipeline_(best_of(nodes_.whole())),
        segments_(arguments.call, pipeline_.segments) {
    Call call = arguments.call;
    if (!shares_memory(nodes_.whole())) {
      call.root = nodes_.speaker();
      inside_.emplace(*transport.node(), call, arguments.out, TreePipeline{degree_inside, pipeline_.segments});
    }
    if (!nodes_.speaks()) return;
    call.root = nodes_.node_of(arguments.call.root);
    between_.emplace(nodes_.speakers(), call, arguments.out, pipeline_);
  }

  [[nodiscard]] int segments() const noexcept { return pipeline_.segments; }
  /// Waits for a segment and passes it on, to other nodes and inside this one.
  [[nodiscard]] Task<> pass_on(int number) {
    if (!between_) {
      co_await spread_in_node(number);
      co_return;
    }
    co_await between_->comes(number);
    Task<> both[] = {between_->pass_on(number), spread_in_node(number)};
    when_all side_by_side(both);
    co_await side_by_side;
  }

 private:
  [[nodiscard]] Task<> spread_in_node(int number) {
    if (inside_) {
      co_await inside_->comes(number);
      co_await inside_->pass_on(number);
      co_return;
    }
    Arguments of_segment = arguments_;
    of_segment.in = of_segment.out = arguments_.out + segments_.offset(number);
    co_await nodes_.run(spread(arguments_.call, segments_, number), of_segment);
  }

  Arguments arguments_;
  Nodes nodes_;
  TreePipeline pipeline_;
  Blocks segments_;
  std::optional<DownTree> inside_;   // where the node's ranks share no memory
  std::optional<DownTree> between_;  // of a rank that speaks for its node
};

Task<> run(Transport& transport, Arguments arguments) {
  TreeCall call(transport, arguments);
  for (int number = 0; number < call.segments(); ++number) co_await call.pass_on(number);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "tree_of_nodes",
    .summary = "segments go from node to node down a tree, each spread in a node while the next one comes: long data",
    .source =
        "Sanders, Speck and Traeff, Parallel Comput. 35(12), 2009 (pipelined trees); Luo et al., CLUSTER 2020 (HAN)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::bcast_tree_of_nodes
