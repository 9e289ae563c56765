// SPDX-License-Identifier: Apache-2.0
#include "tree_pipeline.hpp"

#include "base/machine.hpp"
#include "blocks.hpp"
#include "link_model.hpp"

#include <algorithm>
#include <limits>

namespace chorus {

namespace {

int segments_of(const Call& call, std::size_t bytes) noexcept {
  const std::size_t number = std::min(call.count, call.bytes() / bytes);
  return static_cast<int>(std::clamp<std::size_t>(number, 1, std::numeric_limits<int>::max() / 2));
}

}  // namespace

int TreePipeline::fewest_segments(const Call& call) noexcept { return segments_of(call, machine::longest_segment); }
int TreePipeline::most_segments(const Call& call) noexcept {
  return segments_of(call, machine::shortest_segment_of_tree);
}

TreePipeline TreePipeline::best(const Call& call, int ranks, const LinkModel* links) noexcept {
  const Problem problem{.call = call, .ranks = ranks, .nodes = ranks, .links = links};
  TreePipeline best;
  double least_us = std::numeric_limits<double>::infinity();
  for (int degree = 1; degree <= RangeTree::highest_degree; ++degree) {
    double before_us = std::numeric_limits<double>::infinity();
    for (int segments = fewest_segments(call); segments <= most_segments(call); segments *= 2) {
      const TreePipeline pipeline{degree, segments};
      const double us = links_of(problem).microseconds(pipeline.traffic(problem), problem);
      if (us >= before_us) break;
      before_us = us;
      if (us >= least_us) continue;
      best = pipeline;
      least_us = us;
    }
  }
  return best;
}

Traffic TreePipeline::traffic(const Problem& problem) const noexcept {
  if (problem.ranks == 1) return {};
  const RangeTree root(0, problem.ranks, degree);
  const int children = root.children();
  // Its first child has as many, unless its subtree is too short, and gets each segment besides.
  const int most = std::max(children, RangeTree(1, problem.ranks, degree).children() + 1);
  const double messages = static_cast<double>(most) * segments;
  const auto all = static_cast<double>(problem.call.bytes());
  const auto longest = static_cast<double>(Blocks(problem.call, segments).longest_bytes());
  // The first segment on its way to the farthest rank, beyond the first step: from each rank after its siblings.
  const int further = RangeTree::depth(problem.ranks, degree) - 1;
  const double siblings = (children - 1) * links_of(problem).further_message;
  return {.shared = {},
          .messages = {.messages = messages, .bytes = children * all, .reduced = 0},
          .waited = {.messages = further * (1 + siblings), .bytes = further * children * longest, .reduced = 0},
          .together = {.messages = messages - 1, .bytes = (children - 1) * all, .reduced = 0},
          .to_next = 1.0 / children};
}

Traffic TreePipeline::traffic_between(const Problem& problem) const noexcept {
  Problem nodes = problem;
  nodes.ranks = problem.nodes;
  Traffic traffic = this->traffic(nodes);
  traffic.lanes = 1;
  return traffic;
}

Traffic TreePipeline::traffic_inside(const Problem& problem) const noexcept {
  Problem node = problem;
  node.ranks = problem.largest_node;
  const Traffic tree = traffic(node);
  return {.shared = {},
          .messages = {},
          .inside = {.messages = tree.messages.messages + tree.waited.messages,
                     .bytes = tree.messages.bytes + tree.waited.bytes,
                     .reduced = 0},
          .inside_together = tree.together};
}

}  // namespace chorus
