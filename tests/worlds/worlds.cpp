// SPDX-License-Identifier: Apache-2.0
#include "worlds/worlds.hpp"

#include "transport/simulated.hpp"
#include "worlds/rank_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>

namespace chorus::test {
namespace {

class Simulated final : public World {
 public:
  explicit Simulated(const WorldOptions& options)
      : world_({.ranks = options.ranks,
                .seed = options.seed,
                .nodes = options.nodes,
                .bindings = options.bindings,
                .slot_bytes = options.slot_bytes}) {}

  Transport& transport(int rank) override { return world_.transport(rank); }
  void run(const Body& body) override { world_.run(body).check(); }

 private:
  SimulatedWorld world_;
};

/// Nodes of so many ranks, one behind the other.
std::vector<int> one_behind_the_other(std::span<const int> sizes) {
  std::vector<int> nodes;
  for (const int size : sizes) {
    const int node = nodes.empty() ? 0 : nodes.back() + 1;
    nodes.insert(nodes.end(), static_cast<std::size_t>(size), node);
  }
  return nodes;
}

/// Dealt to the nodes in turn, as long as they have room.
std::vector<int> dealt_in_turn(std::span<const int> sizes) {
  std::vector<int> nodes;
  for (int turn = 0; turn < std::ranges::max(sizes); ++turn) {
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      if (turn < sizes[node]) nodes.push_back(static_cast<int>(node));
    }
  }
  return nodes;
}

Layout drawn_whole(std::mt19937& random) {
  constexpr int many[] = {3, 1, 4, 3, 1, 4};
  constexpr int few[] = {5, 3, 8};
  const std::span<const int> sizes = random() % 2 == 0 ? std::span<const int>(many) : few;
  switch (random() % 3) {
    case 0:
      return {"one node behind the other", one_behind_the_other(sizes)};
    case 1:
      return {"dealt in turn", dealt_in_turn(sizes)};
    default:
      Layout layout{"at random", one_behind_the_other(sizes)};
      std::ranges::shuffle(layout.nodes, random);
      return layout;
  }
}

void add_parts(std::vector<Layout>& layouts, unsigned seed) {
  std::mt19937 random(seed);
  const Layout whole = drawn_whole(random);
  const std::size_t colors = 1 + random() % 3;
  const bool same_keys = random() % 2 == 0;                          // then the ranks stay in their order
  std::vector<std::vector<std::pair<unsigned, int>>> parts(colors);  // keys and nodes
  for (const int node : whole.nodes) {
    const unsigned key = same_keys ? 0 : random();
    parts[random() % colors].emplace_back(key, node);
  }
  for (auto& part : parts) {
    if (part.empty()) continue;
    std::ranges::stable_sort(part, {}, &std::pair<unsigned, int>::first);
    Layout& layout = layouts.emplace_back();
    layout.name = fmt::format("{}, seed {}:", whole.name, seed);
    for (const auto& [key, node] : part) {
      layout.nodes.push_back(node);
      layout.name += fmt::format(" {}", node);
    }
  }
}

}  // namespace

const char* name(WorldKind kind) noexcept { return kind == WorldKind::simulated ? "simulated" : "threads"; }

std::unique_ptr<World> make_world(const WorldOptions& options) {
  if (options.kind == WorldKind::simulated) return std::make_unique<Simulated>(options);
  return std::make_unique<RankThreads>(options);
}

void on_every_rank(const WorldOptions& options, const World::Body& body) { make_world(options)->run(body); }

std::vector<Layout> layouts(int ranks) {
  constexpr int ragged[] = {0, 0, 0, 1, 1, 2};
  constexpr int scattered[] = {0, 1, 1, 0, 0, 2, 1, 2};
  constexpr int uneven[] = {0, 0, 0, 1, 2, 2, 2, 2};
  constexpr int uneven_in_turn[] = {0, 1, 2, 0, 2, 0, 2, 2};
  std::vector<Layout> all = {{"one_node", {}}, {"pairs", {}},     {"ragged", {}}, {"alternating", {}},
                             {"alone", {}},    {"scattered", {}}, {"uneven", {}}, {"uneven_in_turn", {}}};
  for (int rank = 0; rank < ranks; ++rank) {
    all[0].nodes.push_back(0);
    all[1].nodes.push_back(rank / 2);
    all[2].nodes.push_back(rank / 6 * 3 + ragged[rank % 6]);
    all[3].nodes.push_back(rank % 2);
    all[4].nodes.push_back(rank);
    all[5].nodes.push_back(scattered[rank % 8]);
    all[6].nodes.push_back(rank / 8 * 3 + uneven[rank % 8]);
    all[7].nodes.push_back(rank / 8 * 3 + uneven_in_turn[rank % 8]);
  }
  std::vector<Layout> different;
  for (Layout& layout : all) {
    const auto same = [&](const Layout& other) { return other.nodes == layout.nodes; };
    if (std::ranges::none_of(different, same)) different.push_back(std::move(layout));
  }
  return different;
}

std::vector<Layout> drawn_parts(WorldKind kind) {
  const unsigned seeds = kind == WorldKind::simulated ? 40 : 8;
  std::vector<Layout> layouts;
  for (unsigned seed = 0; seed < seeds; ++seed) add_parts(layouts, seed);
  return layouts;
}

}  // namespace chorus::test
