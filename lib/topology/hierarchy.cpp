// SPDX-License-Identifier: Apache-2.0
#include "topology/hierarchy.hpp"

#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace chorus {
namespace {

/// The innermost object at `level` or further out that holds the rank's binding, as a group without ranks.
RankGroup place_at(const RankPlace& place, Level level) {
  for (int at = static_cast<int>(level); at > static_cast<int>(Level::node); --at) {
    const int object = place.binding.object(static_cast<Level>(at));
    if (object >= 0) return {static_cast<Level>(at), place.node, object, {}};
  }
  return {Level::node, place.node, -1, {}};
}

Split split_at(std::span<const RankPlace> places, Level level) {
  Split split{level, {}};
  std::map<std::tuple<Level, int, int>, std::size_t> numbers;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    RankGroup group = place_at(places[rank], level);
    const auto at = numbers.try_emplace({group.level, group.node, group.object}, split.groups.size());
    if (at.second) split.groups.push_back(std::move(group));
    split.groups[at.first->second].ranks.push_back(static_cast<int>(rank));
  }
  return split;
}

}  // namespace

Hierarchy hierarchy_of(std::span<const RankPlace> places) {
  Hierarchy hierarchy;
  std::size_t groups = 1;  // each split refines the one before it, so more groups mean another division
  for (int level = 0; level < level_count; ++level) {
    Split split = split_at(places, static_cast<Level>(level));
    if (split.groups.size() <= groups) continue;
    groups = split.groups.size();
    hierarchy.splits.push_back(std::move(split));
  }
  return hierarchy;
}

}  // namespace chorus
