// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <vector>

namespace chorus {

// The `hierarchical` algorithms: collectives of several nodes made of collectives inside each node and of others
// between them, in which one rank speaks for each node. So each byte crosses the network once for a node, not once for
// a rank.

/// A collective as a part of another one.
struct Phase {
  enum class Where { inside, between };
  Where where = Where::inside;  ///< among the ranks of a node, or among those that speak for the nodes
  Collective collective = Collective::barrier;
  std::size_t count = 0;  ///< as in Call
};

/// True where some of several nodes have several ranks, who share memory.
[[nodiscard]] bool has_nodes(const Problem& problem);
/// What the phases of `whole` do together.
[[nodiscard]] Traffic traffic_of(const Problem& whole, std::initializer_list<Phase> phases);

/// The nodes of one call, which `has_nodes`, as one rank sees them.
class Nodes {
 public:
  /// The root speaks for its node; where there is none (no_rank), and for other nodes, their first ranks.
  Nodes(Transport& transport, const Call& call, int root = no_rank);

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
  /// True where the ranks follow one another as those of ranks() do.
  [[nodiscard]] bool in_order() const noexcept { return in_order_; }
  /// True where this rank speaks for its node.
  [[nodiscard]] bool speaks() const noexcept { return transport_.node()->rank() == speaker_; }

  /// Carries out a phase by the algorithm that is fastest for it by the model. Called by all ranks of the node or, of a
  /// phase between the nodes, by those that speak. The phase's root is the rank that speaks, or the root's node.
  [[nodiscard]] Task<> run(const Phase& phase, Arguments arguments);

 private:
  Transport& transport_;
  Problem whole_;
  int root_;
  bool in_order_;
  int speaker_ = 0;                 // of this node, as its number there
  std::optional<Subset> speakers_;  // where they are not the transport's leaders
};

}  // namespace chorus
