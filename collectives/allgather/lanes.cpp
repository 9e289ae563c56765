// SPDX-License-Identifier: Apache-2.0
//
// Allgather by lanes: each rank gathers the blocks of those that have the same place in the other nodes, and the ranks
// of every node give each other what they have got.
//
// With two nodes of two ranks, 0 1 and 2 3, and block b of rank b:
//
//             rank 0     rank 1     rank 2     rank 3
//   along     0 2        1 3        0 2        1 3        lane 0 are the ranks 0 and 2, lane 1 the ranks 1 and 3
//   inside    0 1 2 3    0 1 2 3    0 1 2 3    0 1 2 3    first what is from the one node, then what is from the other
//
// Each block crosses the network once for each node, as by `hierarchical`, but by all ranks of a node, so that several
// cores and network cards work; and while a segment of long blocks goes along the lanes, the one before is put together
// inside. For nodes with equal numbers of ranks. Short blocks take more rounds than they need.

#include "phases.hpp"
#include "section_list.hpp"
#include "segments.hpp"

#include <vector>

namespace chorus::allgather_lanes {
namespace {

bool applies(const Problem& problem) { return has_lanes(problem) && problem.smallest_node == problem.largest_node; }

Segments segments_of(const Problem& problem) { return {problem.call.count, segment_of_lane(problem), 1}; }

Phase along(std::size_t count) { return {Phase::Where::along, Collective::allgather, count}; }
Phase inside(std::size_t count, int times = 1) { return {Phase::Where::inside, Collective::allgatherv, count, times}; }

Traffic traffic(const Problem& problem) {
  const auto ranks = static_cast<std::size_t>(problem.largest_node);
  return traffic_of(problem, segments_of(problem), [&](std::size_t count) {
    return std::vector{along(count), inside(count * ranks, problem.nodes)};
  });
}

/// One call on one rank.
class LaneCall {
 public:
  LaneCall(Transport& transport, const Arguments& arguments)
      : arguments_(arguments),
        nodes_(transport, arguments),
        own_(arguments.in +
             (arguments.in == arguments.out ? static_cast<std::size_t>(transport.rank()) * arguments.call.bytes() : 0)),
        segments_(segments_of(nodes_.whole())),
        lane_(transport.scratch(2 * lane_bytes())),
        given_(transport, static_cast<std::size_t>(nodes_.lanes())),
        places_(transport, given_.size()) {}

  [[nodiscard]] std::size_t steps() const { return segments_.number() + 1; }

  Task<> between(std::size_t step) {
    if (step == segments_.number()) co_return;
    co_await nodes_.run(allgather_lanes::along(segments_.count(step)),
                        {.call = arguments_.call, .in = own_ + offset(step), .out = lane(step)});
  }
  /// What came along the lanes in the step before, from node to node.
  Task<> inside(std::size_t step) {
    if (step == 0) co_return;
    const std::size_t segment = step - 1;
    const std::size_t count = segments_.count(segment);
    const std::size_t bytes = count * element();
    given_.fill({0, bytes});
    for (std::size_t node = 0; node < nodes_.sizes().size(); ++node) {
      for (std::size_t place = 0; place < places_.size(); ++place) {
        const auto rank = static_cast<std::size_t>(nodes_.ranks()[node * places_.size() + place]);
        places_[place] = {rank * arguments_.call.bytes() + offset(segment), bytes};
      }
      co_await nodes_.run(allgather_lanes::inside(count * places_.size()), {.call = arguments_.call,
                                                                            .in = lane(segment) + node * bytes,
                                                                            .out = arguments_.out,
                                                                            .in_sections = given_,
                                                                            .out_sections = places_});
    }
  }

 private:
  [[nodiscard]] std::size_t element() const { return arguments_.call.element_bytes(); }
  [[nodiscard]] std::size_t offset(std::size_t segment) const { return segments_.begin(segment) * element(); }
  [[nodiscard]] std::size_t lane_bytes() const { return nodes_.sizes().size() * segments_.longest() * element(); }
  [[nodiscard]] std::byte* lane(std::size_t segment) const { return lane_.data() + segment % 2 * lane_bytes(); }

  Arguments arguments_;
  Nodes nodes_;
  const std::byte* own_;
  Segments segments_;
  Scratch lane_;
  SectionList given_;
  SectionList places_;
};

Task<> run(Transport& transport, Arguments arguments) {
  LaneCall call(transport, arguments);
  co_await run_side_by_side(call, call.steps());
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "lanes",
    .summary = "each rank of a node gathers from the other nodes what the rank with its place there has: long blocks",
    .source = "Traeff and Hunold, CLUSTER 2020 (full-lane collectives)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allgather_lanes
