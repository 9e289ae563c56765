// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "exchanges.hpp"
#include "range_tree.hpp"

#include <cstddef>

namespace chorus {

/// How a vector goes down a tree of ranks, or up, in segments that follow one another: a rank passes on one segment to
/// its children while the next one comes.
struct TreePipeline {
  int degree = 1;    ///< of the RangeTree
  int segments = 1;  ///< the Blocks of the vector

  /// That which takes least time between nodes by `links`; null: the built-in model. The same on every rank.
  [[nodiscard]] static TreePipeline best(const Call& call, int ranks, const LinkModel* links) noexcept;
  /// What it takes that from: as many segments as keep them within these lengths, doubled again and again.
  [[nodiscard]] static int fewest_segments(const Call& call) noexcept;
  [[nodiscard]] static int most_segments(const Call& call) noexcept;
  /// How many segments of one vector may be on their way to a rank: two, unless elements are long.
  [[nodiscard]] static int ahead(std::size_t longest_bytes) noexcept {
    return longest_bytes <= PostedReceive::longest_of_several ? 2 : 1;
  }
  /// Of the way down.
  [[nodiscard]] Traffic traffic(const Problem& problem) const noexcept;
  /// The same where one rank of each node speaks for it: from node to node, and inside each from the rank that speaks.
  [[nodiscard]] Traffic traffic_between(const Problem& problem) const noexcept;
  [[nodiscard]] Traffic traffic_inside(const Problem& problem) const noexcept;
};

/// One rank's place in the tree: its neighbours as ranks.
class TreeRank {
 public:
  TreeRank(const Transport& transport, int root, int degree) noexcept
      : ranks_(transport.size()), root_(root), tree_((transport.rank() - root + ranks_) % ranks_, ranks_, degree) {}

  [[nodiscard]] bool is_root() const noexcept { return tree_.parent() == no_rank; }
  [[nodiscard]] int parent() const noexcept { return is_root() ? no_rank : rank_at(tree_.parent()); }
  [[nodiscard]] int children() const noexcept { return tree_.children(); }
  [[nodiscard]] int child(int i) const noexcept { return rank_at(tree_.child(i)); }

 private:
  [[nodiscard]] int rank_at(int place) const noexcept { return (place + root_) % ranks_; }

  int ranks_;
  int root_;
  RangeTree tree_;
};

}  // namespace chorus
