// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "topology/binding.hpp"

namespace chorus {

/// A rank's place in the job.
struct RankPlace {
  int node = 0;  ///< the same for ranks on the same node; any numbers
  Binding binding;
};

/// Ranks that stand at the same place, seen as closely as one level allows.
struct RankGroup {
  Level level = Level::node;  ///< what kind of object this place is: the level of the split, or one further out
  int node = 0;               ///< as in RankPlace
  int object = -1;            ///< its number within the machine (Binding::objects); -1 for a node
  std::vector<int> ranks;     ///< ascending, never empty

  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

/// One cut through all ranks.
struct Split {
  Level level = Level::node;
  std::vector<RankGroup> groups;  ///< each rank is in exactly one; ordered by their first ranks

  friend bool operator==(const Split&, const Split&) = default;
};

/// How the machines divide the ranks of a communicator, from the outside in. The communicator as a whole is no entry:
/// splits[0] divides it, splits[i + 1] divides the groups of splits[i].
///
/// At each level a rank belongs to the innermost object of this level or one further out that holds its whole binding.
/// So with two packages, ranks 0 and 1 bound in the first, 2 and 3 in the second, and rank 4 bound to both:
///
///   package   {0 1} package 0   {2 3} package 1   {4} node
///
/// A split that divides no group of the one before is left out: on a single node there is no split by node, and where
/// each package is one NUMA domain there is none by NUMA domain; ranks whose places differ by nothing known have no
/// split at all. Hence the first split in which two ranks are in different groups names what the data between them
/// crosses. Groups of one rank are kept, for that reason.
///
/// Nodes may be different machines: one may be divided at a level where another is not.
struct Hierarchy {
  std::vector<Split> splits;

  friend bool operator==(const Hierarchy&, const Hierarchy&) = default;
};

/// The hierarchy of the communicator whose rank r stands at places[r]. The same places give the same on every rank.
[[nodiscard]] Hierarchy hierarchy_of(std::span<const RankPlace> places);

}  // namespace chorus
