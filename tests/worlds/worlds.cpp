// SPDX-License-Identifier: Apache-2.0
#include "worlds/worlds.hpp"

#include "transport/simulated.hpp"
#include "worlds/rank_threads.hpp"

#include <algorithm>

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
  std::vector<Layout> all = {{"one_node", {}},    {"pairs", {}}, {"ragged", {}},
                             {"alternating", {}}, {"alone", {}}, {"scattered", {}}};
  for (int rank = 0; rank < ranks; ++rank) {
    all[0].nodes.push_back(0);
    all[1].nodes.push_back(rank / 2);
    all[2].nodes.push_back(rank / 6 * 3 + ragged[rank % 6]);
    all[3].nodes.push_back(rank % 2);
    all[4].nodes.push_back(rank);
    all[5].nodes.push_back(scattered[rank % 8]);
  }
  std::vector<Layout> different;
  for (Layout& layout : all) {
    const auto same = [&](const Layout& other) { return other.nodes == layout.nodes; };
    if (std::ranges::none_of(different, same)) different.push_back(std::move(layout));
  }
  return different;
}

}  // namespace chorus::test
