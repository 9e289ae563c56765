// SPDX-License-Identifier: Apache-2.0
#include "topology/node_shape.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "topology/hierarchy.hpp"

namespace chorus {
namespace {

/// The number of ranks in each group; 0 where they differ.
int even_size(const Split& split) {
  const std::size_t first = split.groups.front().ranks.size();
  const bool even = std::ranges::all_of(split.groups, [&](const RankGroup& it) { return it.ranks.size() == first; });
  return even ? static_cast<int>(first) : 0;
}

/// The number of each rank's group.
std::vector<int> groups_of(const Split& split, std::size_t ranks) {
  std::vector<int> groups(ranks);
  for (std::size_t group = 0; group < split.groups.size(); ++group) {
    for (const int rank : split.groups[group].ranks) groups[static_cast<std::size_t>(rank)] = static_cast<int>(group);
  }
  return groups;
}

}  // namespace

NodeShape::NodeShape(const Radices& radices, std::vector<int> ranks)
    : radices_(radices), ranks_(std::move(ranks)), positions_(ranks_.size()) {
  for (std::size_t position = 0; position < ranks_.size(); ++position) {
    positions_[static_cast<std::size_t>(ranks_[position])] = static_cast<int>(position);
  }
}

NodeShape NodeShape::of(std::span<const Binding> bindings) {
  std::vector<RankPlace> places;
  for (const Binding& binding : bindings) places.push_back({0, binding});
  std::vector<int> sizes = {static_cast<int>(bindings.size())};  // of the groups of each level, from the outside in
  std::vector<int> ranks(bindings.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  // Sorting by inner groups first leaves those of the same outer group in their order when that is sorted by.
  std::vector<std::vector<int>> groups;
  for (const Split& split : hierarchy_of(places).splits) {
    const int size = split.level > Level::l3 ? 0 : even_size(split);
    if (size < 2 || size == sizes.back() || sizes.back() % size != 0) continue;
    sizes.push_back(size);
    groups.push_back(groups_of(split, bindings.size()));
  }
  if (groups.empty()) return {};
  for (auto inner = groups.rbegin(); inner != groups.rend(); ++inner) {
    std::ranges::stable_sort(ranks, {}, [&](int rank) { return (*inner)[static_cast<std::size_t>(rank)]; });
  }
  Radices radices{.of = {sizes.back()}, .levels = static_cast<int>(sizes.size())};
  for (std::size_t level = 1; level < sizes.size(); ++level) {
    radices.of[level] = sizes[sizes.size() - 1 - level] / sizes[sizes.size() - level];
  }
  return {radices, std::move(ranks)};
}

NodeShape NodeShape::pretended(std::span<const int> wanted, int ranks) {
  Radices radices{.levels = static_cast<int>(wanted.size())};
  if (radices.levels < 2 || radices.levels > level_count) return {};
  std::ranges::copy(wanted, radices.of.begin());
  if (radices.stride(radices.levels) != ranks) return {};
  std::vector<int> in_order(static_cast<std::size_t>(ranks));
  std::iota(in_order.begin(), in_order.end(), 0);
  return {radices, std::move(in_order)};
}

}  // namespace chorus
