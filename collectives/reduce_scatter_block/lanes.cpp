// SPDX-License-Identifier: Apache-2.0
//
// Reduce_scatter_block by lanes: in every node each rank reduces the blocks for the ranks that have the same place as
// it in their nodes, and these reduce what the nodes have.
//
// With two nodes of two ranks, 0 1 and 2 3, and ab for what rank a gives to block b:
//
//             rank 0           rank 1           rank 2           rank 3
//   inside    00+10  02+12     01+11  03+13     20+30  22+32     21+31  23+33     from a copy in this order
//   along     block 0          block 1          block 2          block 3
//
// Each block crosses the network once for each node, as by `hierarchical`, but by all ranks of a node, so that several
// cores and network cards work; and while a segment of long blocks goes along the lanes, the next one is reduced
// inside. For nodes with equal numbers of ranks.

#include "phases.hpp"
#include "reduction.hpp"
#include "segments.hpp"
#include "task/when_all.hpp"

namespace chorus::reduce_scatter_block_lanes {
namespace {

bool applies(const Problem& problem) {
  return has_lanes(problem) && problem.smallest_node == problem.largest_node && problem.call.commutes();
}

Segments segments_of(const Problem& problem) { return {problem.call.count, segment_of_lane(problem), 1}; }

Phase along(std::size_t count, int times = 1) {
  return {Phase::Where::along, Collective::reduce_scatter_block, count, times};
}
Phase inside(std::size_t count, int times = 1) {
  return {Phase::Where::inside, Collective::reduce_scatter_block, count, times};
}

Traffic traffic(const Problem& problem) {
  const Segments segments = segments_of(problem);
  const auto nodes = static_cast<std::size_t>(problem.nodes);
  return traffic_of(problem,
                    {inside(segments.each() * nodes, segments.others()), inside(segments.longest() * nodes),
                     along(segments.each(), segments.others()), along(segments.longest())},
                    segments.overlap());
}

/// One call on one rank.
class LaneCall {
 public:
  LaneCall(Transport& transport, const Arguments& arguments)
      : arguments_(arguments),
        nodes_(transport, arguments),
        segments_(segments_of(nodes_.whole())),
        lane_(transport.scratch(2 * lane_bytes())),
        packed_(transport.scratch(static_cast<std::size_t>(nodes_.lanes()) * lane_bytes())) {}

  [[nodiscard]] std::size_t steps() const { return segments_.number() + 1; }

  /// Reduces a segment of the blocks of all nodes.
  Task<> inside(std::size_t step) {
    if (step == segments_.number()) co_return;
    pack(step);
    Arguments of_node = arguments_;
    of_node.in = packed_.data();
    of_node.out = lane(step);
    co_await nodes_.run(reduce_scatter_block_lanes::inside(segments_.count(step) * nodes_.sizes().size()), of_node);
  }
  /// What was reduced inside in the step before.
  Task<> along(std::size_t step) {
    if (step == 0) co_return;
    Arguments of_lane = arguments_;
    of_lane.in = lane(step - 1);
    of_lane.out = arguments_.out + offset(step - 1);
    co_await nodes_.run(reduce_scatter_block_lanes::along(segments_.count(step - 1)), of_lane);
  }

 private:
  /// Place by place, what the ranks of a lane get.
  void pack(std::size_t segment) {
    const std::size_t bytes = segments_.count(segment) * element();
    const auto lanes = static_cast<std::size_t>(nodes_.lanes());
    std::byte* packed = packed_.data();
    for (std::size_t place = 0; place < lanes; ++place) {
      for (std::size_t node = 0; node < nodes_.sizes().size(); ++node, packed += bytes) {
        const auto rank = static_cast<std::size_t>(nodes_.ranks()[node * lanes + place]);
        copy_unless_same(packed, arguments_.in + rank * arguments_.call.bytes() + offset(segment), bytes);
      }
    }
  }
  [[nodiscard]] std::size_t element() const { return arguments_.call.element_bytes(); }
  [[nodiscard]] std::size_t offset(std::size_t segment) const { return segments_.begin(segment) * element(); }
  [[nodiscard]] std::size_t lane_bytes() const { return nodes_.sizes().size() * segments_.longest() * element(); }
  [[nodiscard]] std::byte* lane(std::size_t segment) const { return lane_.data() + segment % 2 * lane_bytes(); }

  Arguments arguments_;
  Nodes nodes_;
  Segments segments_;
  Scratch lane_;
  Scratch packed_;
};

Task<> run(Transport& transport, Arguments arguments) {
  LaneCall call(transport, arguments);
  for (std::size_t step = 0; step < call.steps(); ++step) {
    Task<> both[] = {call.inside(step), call.along(step)};
    when_all side_by_side(both);
    co_await side_by_side;
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "lanes",
    .summary = "each rank of a node reduces for the ranks with its place in the other nodes: long blocks",
    .source = "Traeff and Hunold, CLUSTER 2020 (full-lane collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_scatter_block_lanes
