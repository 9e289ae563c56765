// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus {

/// What the root of a tree sends down it, all of a vector to each child: no other rank has as many. Child i is about
/// Tree::distance(i) ranks away, and Tree::at_once of them are served at a time. Where the ranks of a node follow one
/// another one of them sends to other nodes.
template <class Tree>
[[nodiscard]] Traffic traffic_down(const Problem& problem) noexcept {
  const auto all = static_cast<double>(problem.call.bytes());
  const int children = Tree::most_children(problem.ranks);
  Traffic traffic{.shared = {}, .messages = {}, .lanes = neighbours_share_nodes(problem) ? 1 : 0};
  for (int i = 0; i < children; ++i) {
    LevelTraffic& level = level_of(traffic, problem, Tree::distance(i));
    level.messages += 1;
    level.bytes += all;
    if (i % Tree::at_once == Tree::at_once - 1 || i == children - 1) continue;
    LevelTraffic& together = &level == &traffic.inside ? traffic.inside_together : traffic.together;
    together.messages += 1;
    together.bytes += all;
  }
  return traffic;
}

}  // namespace chorus
