// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "topology/binding.hpp"
#include "worlds/worlds.hpp"

#include <string>
#include <vector>

namespace chorus::test {

/// A rank on each core of the machine that hwloc's synthetic `description` makes up ("pack:2 core:4"): rank r on core
/// r, or `in_turn` one on each outermost part of the machine, then the next on each.
[[nodiscard]] std::vector<Binding> one_rank_a_core(const std::string& description, bool in_turn = false);

/// A node whose packages and domains divide its ranks.
struct DividedNode {
  std::string name;
  std::vector<Binding> bindings;  ///< of each rank
};
/// Some that divide `ranks` ranks evenly, at two to four levels, in order and dealt out in turn; none where there is no
/// such node.
[[nodiscard]] std::vector<DividedNode> divided_nodes(int ranks);

struct NamedWorld {
  std::string name;
  WorldOptions options;
};
/// Every layout of `ranks` ranks, and every such node.
[[nodiscard]] std::vector<NamedWorld> every_world(int ranks, WorldKind kind = WorldKind::simulated);

}  // namespace chorus::test
