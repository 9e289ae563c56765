// SPDX-License-Identifier: Apache-2.0
#include "reduction_by_lanes.hpp"

#include "blocks.hpp"
#include "reduction.hpp"
#include "section_list.hpp"
#include "section_messages.hpp"

#include <optional>
#include <vector>

namespace chorus {
namespace {

/// Of a block; where they differ in length, of one of medium length.
Segments segments_of_blocks(const Problem& problem) {
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  const bool equal = problem.call.collective == Collective::reduce_scatter_block;
  return {equal ? problem.call.count : (problem.call.count + ranks - 1) / ranks, segment_of_lane(problem), 1};
}

/// A phase of one segment of the blocks for `ranks`, of `count` elements in all, shared out among so many ranks.
Phase phase(const Call& whole, Phase::Where where, std::size_t count, std::size_t ranks) {
  const bool equal = whole.collective == Collective::reduce_scatter_block;
  return {where, whole.collective, equal ? count / ranks : count};
}

/// One call on one rank.
class ReductionCall {
 public:
  ReductionCall(Transport& transport, const Arguments& arguments)
      : arguments_(arguments),
        nodes_(transport, arguments),
        segments_(static_cast<int>(segments_of_blocks(nodes_.whole()).number())),
        of_lanes_(transport, static_cast<std::size_t>(nodes_.lanes())),
        even_(transport, nodes_.sizes().size()),
        odd_(transport, nodes_.sizes().size()),
        packed_(transport.scratch(bytes_of(of_lanes_.size(), 0))),
        lane_even_(transport.scratch(bytes_of(1, place()))),
        lane_odd_(transport.scratch(bytes_of(1, place()))) {
    if (arguments.in == arguments.out && !equal()) {  // a long result would overwrite blocks of later segments
      input_.emplace(transport, arguments);
      arguments_.in = input_->input().bytes;
    }
  }

  [[nodiscard]] std::size_t steps() const { return static_cast<std::size_t>(segments_) + 1; }

  /// Reduces a segment of the blocks of all nodes.
  Task<> inside(std::size_t step) {
    if (step + 1 == steps()) co_return;
    const auto segment = static_cast<int>(step);
    const std::size_t bytes = pack(segment);
    Arguments of_node = arguments_;
    of_node.in = packed_.data();
    of_node.out = lane(segment).data();
    if (!equal()) of_node.in_sections = of_lanes_;
    co_await nodes_.run(phase(arguments_.call, Phase::Where::inside, count(bytes), of_lanes_.size()), of_node);
  }
  /// What was reduced inside in the step before.
  Task<> between(std::size_t step) {
    if (step == 0) co_return;
    const int segment = static_cast<int>(step) - 1;
    const SectionList& blocks = blocks_of_lane(segment);
    Arguments of_lane = arguments_;
    of_lane.in = lane(segment).data();
    of_lane.out = arguments_.out + parts(block(me())).offset(segment);
    if (!equal()) of_lane.in_sections = blocks;
    const Section& last = blocks[blocks.size() - 1];
    co_await nodes_.run(phase(arguments_.call, Phase::Where::along, count(last.offset + last.bytes), blocks.size()),
                        of_lane);
  }

 private:
  /// Place by place, what the ranks of a lane get. Gives its length.
  std::size_t pack(int segment) {
    std::size_t end = 0;
    for (std::size_t lane = 0; lane < of_lanes_.size(); ++lane) {
      const std::size_t begin = end;
      for (std::size_t node = 0; node < even_.size(); ++node) {
        const Section from = part(rank_at(node, lane), segment);
        if (lane == place()) blocks_of_lane(segment)[node] = {end - begin, from.bytes};
        copy_unless_same(packed_.data() + end, arguments_.in + from.offset, from.bytes);
        end += from.bytes;
      }
      of_lanes_[lane] = {begin, end - begin};
    }
    return end;
  }

  /// The longest segment of so many lanes.
  [[nodiscard]] std::size_t bytes_of(std::size_t lanes, std::size_t first) const {
    std::size_t bytes = 0;
    for (std::size_t node = 0; node < even_.size(); ++node) {
      for (std::size_t lane = first; lane < first + lanes; ++lane) bytes += part(rank_at(node, lane), 0).bytes;
    }
    return bytes;
  }
  [[nodiscard]] bool equal() const { return arguments_.in_sections.empty(); }
  [[nodiscard]] std::size_t count(std::size_t bytes) const { return bytes / arguments_.call.element_bytes(); }
  [[nodiscard]] std::size_t place() const { return static_cast<std::size_t>(nodes_.place()); }
  [[nodiscard]] int rank_at(std::size_t node, std::size_t place) const {
    return nodes_.ranks()[node * of_lanes_.size() + place];
  }
  [[nodiscard]] int me() const { return rank_at(static_cast<std::size_t>(nodes_.number()), place()); }
  [[nodiscard]] Section block(int rank) const { return input_block(arguments_, static_cast<std::size_t>(rank)); }
  /// A block, cut into segments.
  [[nodiscard]] Blocks parts(const Section& block) const {
    return {count(block.bytes), arguments_.call.element_bytes(), segments_};
  }
  [[nodiscard]] Section part(int rank, int segment) const {
    const Section all = block(rank);
    const Blocks cut = parts(all);
    return {all.offset + cut.offset(segment), cut.bytes(segment)};
  }
  // While one segment goes along the lane, the next one comes in.
  [[nodiscard]] const Scratch& lane(int segment) const { return segment % 2 == 0 ? lane_even_ : lane_odd_; }
  [[nodiscard]] SectionList& blocks_of_lane(int segment) { return segment % 2 == 0 ? even_ : odd_; }

  Arguments arguments_;
  Nodes nodes_;
  int segments_;
  SectionList of_lanes_;
  SectionList even_, odd_;
  Scratch packed_, lane_even_, lane_odd_;
  std::optional<InputCopy> input_;
};

}  // namespace

bool reduces_by_lanes(const Problem& problem) {
  return has_lanes(problem) && problem.smallest_node == problem.largest_node && problem.call.commutes();
}

Traffic traffic_of_reduction_by_lanes(const Problem& problem) {
  const auto nodes = static_cast<std::size_t>(problem.nodes);
  const auto lanes = static_cast<std::size_t>(problem.smallest_node);
  return traffic_of(problem, segments_of_blocks(problem), [&](std::size_t block) {
    return std::vector{phase(problem.call, Phase::Where::inside, block * nodes * lanes, lanes),
                       phase(problem.call, Phase::Where::along, block * nodes, nodes)};
  });
}

Task<> reduce_scatter_by_lanes(Transport& transport, Arguments arguments) {
  ReductionCall call(transport, arguments);
  co_await run_side_by_side(call, call.steps());
}

}  // namespace chorus
