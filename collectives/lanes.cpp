// SPDX-License-Identifier: Apache-2.0
#include "lanes.hpp"

#include "blocks.hpp"
#include "section_list.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace chorus {
namespace {

/// The collective whose blocks may differ in length.
Collective of_lengths(Collective even) {
  switch (even) {
    case Collective::reduce_scatter_block:
      return Collective::reduce_scatter;
    case Collective::allgather:
      return Collective::allgatherv;
    case Collective::gather:
      return Collective::gatherv;
    default:
      return Collective::scatterv;
  }
}

/// A phase inside a node of `ranks`, in which each rank with a lane has its share of `count` elements.
Phase inside(Collective even, std::size_t count, int ranks, int lanes) {
  const bool equal = ranks == lanes && count % static_cast<std::size_t>(lanes) == 0;
  if (equal) return {Phase::Where::inside, even, count / static_cast<std::size_t>(lanes)};
  return {Phase::Where::inside, of_lengths(even), count};
}

Segments segments_of(const Problem& problem) {
  const auto lanes = static_cast<std::size_t>(problem.smallest_node);
  return {problem.call.count, lanes * segment_of_lane(problem), lanes};
}

/// The count that a phase between the nodes is chosen for: the same for all lanes, and in a bcast that of all segments
/// together, as a rank is done with one when it has passed it on, so that they follow one another as in one stream.
std::size_t chosen_for(Collective between, std::size_t whole_share, std::size_t longest_share) {
  return between == Collective::bcast ? std::max(whole_share, longest_share) : longest_share;
}

/// The shares of one segment in a node.
class Shares {
 public:
  Shares(Transport& node, std::size_t count, std::size_t element, int lanes)
      : count_(count),
        element_(element),
        lanes_(lanes),
        me_(static_cast<std::size_t>(node.rank())),
        ranks_(static_cast<std::size_t>(node.size())),
        all_(node, ranks_),
        own_(node, ranks_) {
    const Blocks blocks(count, element, lanes);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const bool has_lane = rank < static_cast<std::size_t>(lanes);
      all_[rank] = has_lane ? Section{blocks.offset(static_cast<int>(rank)), blocks.bytes(static_cast<int>(rank))}
                            : Section{count * element, 0};
    }
  }
  [[nodiscard]] const Section& own() const noexcept { return all_[me_]; }
  [[nodiscard]] std::size_t own_count() const noexcept { return own().bytes / element_; }
  [[nodiscard]] std::size_t longest_count() const noexcept { return all_[0].bytes / element_; }
  [[nodiscard]] Phase phase(Collective even) const { return inside(even, count_, static_cast<int>(ranks_), lanes_); }

  /// The sections of all, and those of one rank: with its share for each, or for `root` alone at the beginning.
  [[nodiscard]] std::span<const Section> all() const noexcept { return all_; }
  [[nodiscard]] std::span<const Section> own_for_each() noexcept {
    own_.fill(own());
    return own_;
  }
  [[nodiscard]] std::span<const Section> own_for(int root) noexcept {
    own_.fill({});
    own_[static_cast<std::size_t>(root)] = {0, own().bytes};
    return own_;
  }

 private:
  std::size_t count_;
  std::size_t element_;
  int lanes_;
  std::size_t me_;
  std::size_t ranks_;
  SectionList all_;
  SectionList own_;
};

/// One call on one rank.
class LaneCall {
 public:
  LaneCall(const InLanes& what, Transport& transport, const Arguments& arguments)
      : what_(what),
        arguments_(arguments),
        nodes_(transport, arguments, has_root() ? arguments.call.root : no_rank),
        node_(*transport.node()),
        segments_(segments_of(nodes_.whole())),
        is_root_(has_root() && arguments.call.root == transport.rank()),
        is_roots_node_(has_root() && nodes_.node_of(arguments.call.root) == nodes_.number()),
        shares_(transport.scratch(keeps_shares() ? shares_at_a_time * longest_share() : 0)) {}

  [[nodiscard]] std::size_t steps() const { return segments_.number() + shares_at_a_time - 1; }

  Task<> inside(std::size_t step) {
    if (step >= 2) co_await together(step - 2);
    if (step < segments_.number()) co_await into(step);
  }
  Task<> between(std::size_t step) {
    if (nodes_.has_lane() && step >= 1 && step <= segments_.number()) co_await along(step - 1);
  }

 private:
  static constexpr std::size_t shares_at_a_time = 3;

  [[nodiscard]] bool has_root() const { return what_.between != Collective::allreduce; }
  /// True where there may be no result to put them into.
  [[nodiscard]] bool keeps_shares() const { return what_.between == Collective::reduce; }
  [[nodiscard]] std::size_t longest_share() const {
    return Blocks(segments_.longest(), element(), nodes_.lanes()).longest_bytes();
  }
  [[nodiscard]] std::size_t element() const { return arguments_.call.element_bytes(); }
  [[nodiscard]] std::size_t offset(std::size_t segment) const { return segments_.begin(segment) * element(); }
  [[nodiscard]] Shares shares_of(std::size_t segment) const {
    return {node_, segments_.count(segment), element(), nodes_.lanes()};
  }
  [[nodiscard]] std::byte* share(std::size_t segment, const Shares& shares) const {
    if (keeps_shares()) return shares_.data() + segment % shares_at_a_time * longest_share();
    return arguments_.out + offset(segment) + shares.own().offset;
  }

  Task<> into(std::size_t segment) {
    Shares shares = shares_of(segment);
    const Phase phase = shares.phase(what_.into);
    Arguments of_phase = arguments_;
    of_phase.out = share(segment, shares);
    if (what_.into == Collective::reduce_scatter_block) {
      of_phase.in += offset(segment);
      of_phase.in_sections = shares.all();
    } else {
      if (!is_roots_node_) co_return;
      of_phase.in = nullptr;
      if (is_root_) of_phase.in = of_phase.out = arguments_.out + offset(segment);
      of_phase.out_sections = shares.own_for(nodes_.speaker());
      of_phase.in_sections = is_root_ ? shares.all() : of_phase.out_sections;
    }
    co_await nodes_.run(phase, of_phase);
  }

  Task<> along(std::size_t segment) {
    const Shares shares = shares_of(segment);
    Arguments of_share = arguments_;
    of_share.in = share(segment, shares);
    of_share.out = keeps_shares() && !is_roots_node_ ? nullptr : share(segment, shares);
    const std::size_t whole = arguments_.call.count / static_cast<std::size_t>(nodes_.lanes());
    const Phase phase{.where = Phase::Where::along,
                      .collective = what_.between,
                      .count = shares.own_count(),
                      .chosen_for = chosen_for(what_.between, whole, shares.longest_count())};
    co_await nodes_.run(phase, of_share);
  }

  Task<> together(std::size_t segment) {
    Shares shares = shares_of(segment);
    const Phase phase = shares.phase(what_.together);
    Arguments of_phase = arguments_;
    if (what_.together == Collective::allgather) {
      of_phase.in = of_phase.out = arguments_.out + offset(segment);
      of_phase.in_sections = shares.own_for_each();
      of_phase.out_sections = shares.all();
    } else {
      if (!is_roots_node_) co_return;
      of_phase.in = share(segment, shares);
      of_phase.out = is_root_ ? arguments_.out + offset(segment) : nullptr;
      of_phase.in_sections = shares.own_for(nodes_.speaker());
      of_phase.out_sections = is_root_ ? shares.all() : of_phase.in_sections;
    }
    co_await nodes_.run(phase, of_phase);
  }

  const InLanes& what_;
  Arguments arguments_;
  Nodes nodes_;
  Transport& node_;
  Segments segments_;
  bool is_root_;
  bool is_roots_node_;
  Scratch shares_;
};

}  // namespace

Traffic InLanes::traffic(const Problem& problem) const {
  const int lanes = problem.smallest_node;
  const auto phase_between = [&](std::size_t count) {
    const std::size_t share = (count + static_cast<std::size_t>(lanes) - 1) / static_cast<std::size_t>(lanes);
    const std::size_t whole = problem.call.count / static_cast<std::size_t>(lanes);
    return Phase{.where = Phase::Where::along,
                 .collective = between,
                 .count = share,
                 .chosen_for = chosen_for(between, whole, share)};
  };
  return traffic_of(problem, segments_of(problem), [&](std::size_t count) {
    return std::vector{inside(into, count, problem.largest_node, lanes), phase_between(count),
                       inside(together, count, problem.largest_node, lanes)};
  });
}

Task<> InLanes::run(Transport& transport, Arguments arguments) const {
  LaneCall call(*this, transport, arguments);
  co_await run_side_by_side(call, call.steps());
}

}  // namespace chorus
