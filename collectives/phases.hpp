// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "segments.hpp"
#include "task/when_all.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace chorus {

// The `hierarchical` algorithms and the `lanes`: collectives of several nodes made of collectives inside each node and
// of others between them, so that each byte crosses the network once for a node, not once for a rank. Between the nodes
// one rank speaks for each, or those with the same place in their nodes are a lane, of which there are as many as the
// smallest node has ranks.

/// A collective as a part of another one.
struct Phase {
  enum class Where { inside, between, along };
  Where where = Where::inside;  ///< among the ranks of a node, those that speak for the nodes, or those of a lane
  Collective collective = Collective::barrier;
  std::size_t count = 0;       ///< as in Call
  int times = 1;               ///< how often it comes, for `traffic_of`
  std::size_t chosen_for = 0;  ///< the count that its algorithm is chosen for, if that is longer
};

/// True where some of several nodes have several ranks, who share memory unless they are simulated.
[[nodiscard]] bool has_nodes(const Problem& problem);
/// The same where no node has but one rank.
[[nodiscard]] inline bool has_lanes(const Problem& problem) { return has_nodes(problem) && problem.smallest_node > 1; }
/// The same where what each node gives may be reduced first.
[[nodiscard]] inline bool reduces_by_node(const Problem& problem) {
  return has_nodes(problem) && (problem.call.commutes() || problem.in_order);
}
/// A collective between nodes, each of which has the blocks of its ranks together, of the count of `whole` each:
/// `even`, or `uneven` where some nodes have more of them.
[[nodiscard]] Phase between_nodes(const Problem& whole, Collective even, Collective uneven);
/// How many elements go along a lane at a time where several segments are on their way: so many that they take much
/// longer than a message by itself, and, up to two slots full, than a round.
[[nodiscard]] std::size_t segment_of_lane(const Problem& problem);
/// What the phases of `whole` do together; `overlap` as in Traffic.
[[nodiscard]] Traffic traffic_of(const Problem& whole, std::span<const Phase> phases, double overlap = 0);
[[nodiscard]] inline Traffic traffic_of(const Problem& whole, std::initializer_list<Phase> phases) {
  return traffic_of(whole, std::span(phases.begin(), phases.size()));
}
/// Of a vector in segments, where `phases_of(count)` are those of a segment, a vector of them.
template <class PhasesOf>
[[nodiscard]] Traffic traffic_of(const Problem& whole, const Segments& segments, const PhasesOf& phases_of) {
  std::vector<Phase> phases = phases_of(segments.each());
  for (Phase& phase : phases) phase.times *= segments.others();
  const std::vector<Phase> of_longest = phases_of(segments.longest());
  phases.insert(phases.end(), of_longest.begin(), of_longest.end());
  return traffic_of(whole, phases, segments.overlap());
}
/// Of 1, 4, 16 and 64 segments as many as take the least time by the model, which `traffic` of the whole is given to.
[[nodiscard]] Segments fastest_segments(const Problem& whole, Traffic (*traffic)(const Problem&, const Segments&));

/// The nodes of one call, which `has_nodes`, as one rank sees them.
class Nodes {
 public:
  /// The root speaks for its node; where there is none (no_rank), and for other nodes, their first ranks.
  Nodes(Transport& transport, const Arguments& arguments, int root = no_rank);
  /// Their last ranks speak for all nodes.
  struct Last {};
  Nodes(Transport& transport, const Arguments& arguments, Last last);

  /// Of this rank's node, counted in the order of the nodes' first ranks.
  [[nodiscard]] int number() const noexcept { return node_of(transport_.rank()); }
  [[nodiscard]] int node_of(int rank) const noexcept { return transport_.nodes()[static_cast<std::size_t>(rank)]; }
  /// How many ranks each has.
  [[nodiscard]] const std::vector<int>& sizes() const noexcept { return transport_.node_sizes(); }
  [[nodiscard]] bool equally_large() const noexcept;
  /// How many ranks the nodes before `node` have.
  [[nodiscard]] int before(int node) const noexcept;
  /// The ranks, node by node.
  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return transport_.ranks_by_node(); }
  /// Where the blocks of this rank's node begin in a vector of a block for each rank, node by node.
  [[nodiscard]] std::size_t place_of_own(std::size_t block_bytes) const noexcept {
    return static_cast<std::size_t>(before(number())) * block_bytes;
  }
  /// Copies such a vector from one in the order of the ranks, and back.
  void from_ranks_to_nodes(std::byte* by_node, const std::byte* by_rank, std::size_t block_bytes) const;
  void from_nodes_to_ranks(std::byte* by_rank, const std::byte* by_node, std::size_t block_bytes) const;
  /// True where the ranks follow one another as those of ranks() do.
  [[nodiscard]] bool in_order() const noexcept { return whole_.in_order; }
  /// True where this rank speaks for its node.
  [[nodiscard]] bool speaks() const noexcept { return place() == speaker_; }
  /// The place in this node of the rank that does.
  [[nodiscard]] int speaker() const noexcept { return speaker_; }
  /// This rank's place in its node: its lane, if there are so many.
  [[nodiscard]] int place() const noexcept { return transport_.node()->rank(); }
  [[nodiscard]] int lanes() const noexcept { return whole_.smallest_node; }
  [[nodiscard]] bool has_lane() const noexcept { return place() < lanes(); }

  [[nodiscard]] const Problem& whole() const noexcept { return whole_; }
  /// The ranks that speak, in the order of the nodes; for those alone.
  [[nodiscard]] Transport& speakers();

  /// Carries out a phase by the algorithm that is fastest for it by the model. Called by all ranks of the node or, of a
  /// phase between the nodes, by those that speak, or have a lane. The phase's root is the rank that speaks, or the
  /// root's node. The result of a reduce_scatter may stand in the place of this rank's own block in `in`.
  /// In their first phase inside it the ranks of a node meet, as Algorithm::arrives asks for: each has one.
  [[nodiscard]] Task<> run(Phase phase, Arguments arguments);

 private:
  [[nodiscard]] Transport& ranks_of(Phase::Where where);

  Transport& transport_;
  Problem whole_;
  int root_ = no_rank;
  bool last_ = false;
  bool met_ = false;                // in a phase inside the node
  int speaker_ = 0;                 // of this node, as its place there
  std::optional<Subset> speakers_;  // where they are not the transport's leaders
};

/// The steps of one call on one rank, in which `call.inside(step)` and `call.between(step)` go on at a time, with
/// different segments.
template <class Call>
Task<> run_side_by_side(Call& call, std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step) {
    Task<> both[] = {call.inside(step), call.between(step)};
    when_all side_by_side(both);
    co_await side_by_side;
  }
}

}  // namespace chorus
