// SPDX-License-Identifier: Apache-2.0
//
// Broadcast along a chain of nodes: the data goes from node to node in segments; each node spreads a segment among its
// ranks while it passes it on and gets the next one.
//
// With three nodes, for which the ranks A, B and C speak, root A and the segments 0, 1, 2:
//
//            between nodes          inside A   inside B   inside C
//   step 1   A -0-> B               0
//   step 2   A -1-> B   B -0-> C    1          0
//   step 3   A -2-> B   B -1-> C    2          1          0
//   step 4              B -2-> C               2          1
//   step 5                                                2
//
// Best for long data where a node's ranks take about as long for it as the network: only the last segment is spread
// after all has crossed the network. The last node has the first segment after one step for each node before it. More
// segments make the steps shorter, and take more messages: there are as many as take the least time by the model.

#include "base/machine.hpp"
#include "blocks.hpp"
#include "chain.hpp"
#include "link_model.hpp"
#include "phases.hpp"
#include "task/when_all.hpp"

#include <algorithm>

namespace chorus::bcast_chain_of_nodes {
namespace {

std::size_t count_of(const Call& call, const Blocks& segments, int number) {
  return segments.bytes(number) / call.element_bytes();
}

Phase spread(std::size_t count, int times = 1) { return {Phase::Where::inside, Collective::bcast, count, times}; }

Traffic traffic_in(const Problem& problem, int number) {
  const Blocks segments(problem.call, number);
  const auto longest = static_cast<double>(segments.bytes(0));
  const double between = problem.nodes - 2;  // nodes that get and pass on: their first round only gets
  const double first = std::min(between, 1.0);
  const Traffic inside = traffic_of(problem, {spread(count_of(problem.call, segments, 0), number)});
  const auto along = [](const LevelTraffic& messages) {
    return Traffic{.shared = {}, .messages = messages, .lanes = 1, .to_next = 1};
  };
  const Traffic passed = along({number + first, static_cast<double>(problem.call.bytes()), 0});
  const Traffic awaited = along({between - first, between * longest, 0});

  Traffic all = inside;
  all.messages = passed.messages;
  all.waited = awaited.messages;
  all.lanes = 1;
  all.to_next = 1;
  // Nothing can be spread while the first segment is awaited: that hides nothing.
  const LinkModel& links = links_of(problem);
  const double inside_us = links.microseconds(inside, problem);
  const double passed_us = links.microseconds(passed, problem);
  const double shorter_us = std::min(inside_us, passed_us + links.microseconds(awaited, problem));
  if (shorter_us > 0) all.overlap = std::min(inside_us, passed_us) / shorter_us * (number - 1) / number;
  return all;
}

/// As many as take the least time: a power of two.
int segments_of(const Problem& problem) {
  const LinkModel& links = links_of(problem);
  const std::size_t most = problem.call.bytes() / machine::shortest_segment_of_lane;
  int number = 1;
  double us = most > 1 ? links.microseconds(traffic_in(problem, 1), problem) : 0;
  while (2 * static_cast<std::size_t>(number) <= most) {
    const double by_twice_us = links.microseconds(traffic_in(problem, 2 * number), problem);
    if (by_twice_us >= us) break;
    number *= 2;
    us = by_twice_us;
  }
  return number;
}

Traffic traffic(const Problem& problem) { return traffic_in(problem, segments_of(problem)); }

/// One call on one rank.
class ChainCall {
 public:
  ChainCall(Transport& transport, const Arguments& arguments)
      : arguments_(arguments),
        nodes_(transport, arguments, arguments.call.root),
        number_(segments_of(nodes_.whole())),
        segments_(arguments.call, number_) {
    if (!nodes_.speaks()) return;
    Call call = arguments.call;
    call.root = nodes_.node_of(call.root);
    const Chain chain(nodes_.speakers(), call);
    previous_ = chain.nearer();
    next_ = chain.farther();
  }

  [[nodiscard]] int segments() const noexcept { return number_; }

  /// Sends a segment on, and receives the one after it; of number -1 only the latter.
  Task<> pass_on(int number) {
    const bool sends = next_ != no_rank && number >= 0;
    const bool receives = previous_ != no_rank && number + 1 < number_;
    if (!sends && !receives) co_return;
    co_await nodes_.speakers().start({.outgoing = sends ? segment(number) : Bytes(),
                                      .destination = sends ? next_ : no_rank,
                                      .incoming = receives ? segment(number + 1) : Bytes(),
                                      .source = receives ? previous_ : no_rank,
                                      .where = Where::here()});
  }
  Task<> spread_in_node(int number) {
    Arguments of_segment = arguments_;
    of_segment.in = of_segment.out = segment(number).data();
    co_await nodes_.run(spread(count_of(arguments_.call, segments_, number)), of_segment);
  }

 private:
  [[nodiscard]] Bytes segment(int number) const {
    return {arguments_.out + segments_.offset(number), segments_.bytes(number)};
  }

  Arguments arguments_;
  Nodes nodes_;
  int number_;
  Blocks segments_;
  int previous_ = no_rank;  // of a rank that speaks for its node
  int next_ = no_rank;
};

Task<> run(Transport& transport, Arguments arguments) {
  ChainCall call(transport, arguments);
  co_await call.pass_on(-1);
  for (int number = 0; number < call.segments(); ++number) {
    Task<> both[] = {call.pass_on(number), call.spread_in_node(number)};
    when_all side_by_side(both);
    co_await side_by_side;
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "chain_of_nodes",
    .summary = "segments go from node to node, each spread in a node while the next one comes: long data",
    .source = "Barnett et al., Scalable High Performance Computing Conf., 1994; Luo et al., CLUSTER 2020 (HAN)",
    .applies = has_nodes,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::bcast_chain_of_nodes
