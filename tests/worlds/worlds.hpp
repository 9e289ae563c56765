// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"
#include "topology/binding.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

// The worlds in which tests run the same text on every rank.
namespace chorus::test {

enum class WorldKind : std::uint8_t { simulated, threads };
[[nodiscard]] const char* name(WorldKind kind) noexcept;
inline std::ostream& operator<<(std::ostream& stream, WorldKind kind) { return stream << name(kind); }

struct WorldOptions {
  WorldKind kind = WorldKind::simulated;
  int ranks = 1;
  std::vector<int> nodes = {};         ///< the node of each rank; empty: all on one
  std::size_t slot_bytes = 1024;       ///< 0: no shared memory
  std::uint64_t seed = 1;              ///< of a simulated world
  std::vector<Binding> bindings = {};  ///< where each rank is bound; empty: they are not
};

class World {
 public:
  using Body = std::function<Task<>(Transport&)>;

  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World() = default;

  [[nodiscard]] virtual Transport& transport(int rank) = 0;
  /// Runs `body` on every rank and returns when all have finished. Throws what the first rank threw; the others are
  /// given up then, and the world is not used again.
  virtual void run(const Body& body) = 0;
};

[[nodiscard]] std::unique_ptr<World> make_world(const WorldOptions& options);

/// A world for one `body`.
void on_every_rank(const WorldOptions& options, const World::Body& body);

/// A placement of ranks on nodes.
struct Layout {
  std::string name;
  std::vector<int> nodes;
};
/// One node, two ranks a node, nodes of 3, 2 and 1 ranks, ranks dealt to two nodes in turn, every rank on its own,
/// ranks at random on three nodes, unequally many, nodes of 3, 1 and 4 ranks one behind the other and dealt out in
/// turn; those of them that differ for `ranks`.
[[nodiscard]] std::vector<Layout> layouts(int ranks);

/// The parts that `split` would make of 16 ranks by drawn colors and keys, each as a placement of its own, for some
/// seeds, of threads for fewer. The 16 are on nodes of 3, 1, 4, 3, 1 and 4 ranks or of 5, 3 and 8: one node behind the
/// other, dealt to them in turn, or at random.
[[nodiscard]] std::vector<Layout> drawn_parts(WorldKind kind);

}  // namespace chorus::test
