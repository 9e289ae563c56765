// SPDX-License-Identifier: Apache-2.0
// Which GPU each rank of a node takes: a transportation problem, solved by successive shortest paths (Ahuja, Magnanti
// and Orlin, Network Flows, Prentice Hall 1993, section 9.7), one rank after another.
//
// Ranks are few kinds of goods and GPUs are where they go, so that a path need not name the ranks in between: its nodes
// are the GPUs, and a step from one to another moves the rank for which that is cheapest. One more node, the pool, has
// the room that is left: a step to it adds a rank to a GPU, a step from it takes one away. With two ranks and two GPUs,
//
//   distances     rank 0: 0 3      rank 1: 0 1
//   rank 0 comes  takes GPU 0
//   rank 1 comes  GPU 1, then the pool (cost 1), rather than GPU 0, then GPU 1 by moving rank 0 (0 + 3), then the pool
//
// What is best is then known; what is first among equals is found by going over the ranks once more: each moves to the
// first GPU from which a path of later ranks' moves leads back to its own at no cost.
//
// For r ranks and g GPUs it takes r (r g + g^3) steps: for 256 and 16 some milliseconds.
#include "topology/gpu_assignment.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace chorus {
namespace {

using Cost = std::int64_t;
constexpr Cost no_way = std::numeric_limits<Cost>::max() / 4;

class Assignment {
 public:
  Assignment(const std::vector<std::vector<int>>& distances, std::size_t most)
      : distances_(distances),
        gpus_(distances.empty() ? 0 : distances[0].size()),
        pool_(gpus_),
        most_(most),
        weight_(static_cast<Cost>(distances.size() * distances.size()) + 1),
        gpu_of_(distances.size(), nobody),
        load_(gpus_) {}

  /// False where the GPUs that the rank can use are full, and those that their ranks could move to.
  bool add(std::size_t rank) {
    const std::vector<Step> steps = ways_to(pool_, 0);
    std::size_t first = gpus_;
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      if (total(rank, gpu, steps) < (first == gpus_ ? no_way : total(rank, first, steps))) first = gpu;
    }
    if (first == gpus_) return false;
    follow(steps, first, pool_);
    gpu_of_[rank] = first;
    count();
    return true;
  }

  /// Gives the rank the first GPU that it has in any assignment that is as good and the same for the ranks before it.
  void settle(std::size_t rank) {
    const std::size_t own = gpu_of_[rank];
    const std::vector<Step> steps = ways_to(own, rank + 1);
    for (std::size_t gpu = 0; gpu < own; ++gpu) {
      if (total(rank, gpu, steps) != cost(rank, own)) continue;
      follow(steps, gpu, own);
      gpu_of_[rank] = gpu;
      return count();
    }
  }

  [[nodiscard]] int gpu_of(std::size_t rank) const { return static_cast<int>(gpu_of_[rank]); }

 private:
  static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

  /// The way from a node to the target: what it costs, and how it begins.
  struct Step {
    Cost cost = no_way;
    std::size_t next = 0;
    std::size_t rank = nobody;  ///< who moves
  };
  /// The cheapest move from one node to another.
  struct Move {
    Cost cost = no_way;
    std::size_t rank = nobody;
  };

  /// Distances come first; the sum of squares, which is less than the weight, second.
  [[nodiscard]] Cost cost(std::size_t rank, std::size_t gpu) const {
    const int distance = distances_[rank][gpu];
    return distance == out_of_reach ? no_way : weight_ * distance;
  }
  [[nodiscard]] Cost total(std::size_t rank, std::size_t gpu, const std::vector<Step>& steps) const {
    return cost(rank, gpu) == no_way || steps[gpu].cost == no_way ? no_way : cost(rank, gpu) + steps[gpu].cost;
  }
  /// By how much the sum of squares grows with the `number`-th rank of a GPU.
  static Cost growth(std::size_t number) { return 2 * static_cast<Cost>(number) - 1; }

  /// Row by row the moves of ranks from `first_movable` on, and those to and from the pool.
  [[nodiscard]] std::vector<Move> moves(std::size_t first_movable) const {
    const std::size_t nodes = gpus_ + 1;
    std::vector<Move> all(nodes * nodes);
    for (std::size_t rank = first_movable; rank < gpu_of_.size(); ++rank) {
      const std::size_t from = gpu_of_[rank];
      if (from == nobody) continue;
      for (std::size_t to = 0; to < gpus_; ++to) {
        Move& move = all[from * nodes + to];
        if (cost(rank, to) == no_way || cost(rank, to) - cost(rank, from) >= move.cost) continue;
        move = {cost(rank, to) - cost(rank, from), rank};
      }
    }
    for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
      if (load_[gpu] < most_) all[gpu * nodes + pool_].cost = growth(load_[gpu] + 1);
      if (load_[gpu] > 0) all[pool_ * nodes + gpu].cost = -growth(load_[gpu]);
    }
    return all;
  }

  /// The cheapest ways from all nodes to `target` (Bellman and Ford's: there are no circles of negative cost).
  [[nodiscard]] std::vector<Step> ways_to(std::size_t target, std::size_t first_movable) const {
    const std::vector<Move> all = moves(first_movable);
    const std::size_t nodes = gpus_ + 1;
    std::vector<Step> steps(nodes);
    steps[target].cost = 0;
    for (bool shorter = true; shorter;) {
      shorter = false;
      for (std::size_t from = 0; from < nodes; ++from) {
        for (std::size_t to = 0; to < nodes; ++to) {
          const Move& move = all[from * nodes + to];
          if (move.cost == no_way || steps[to].cost == no_way || from == target) continue;
          if (move.cost + steps[to].cost >= steps[from].cost) continue;
          steps[from] = {move.cost + steps[to].cost, to, move.rank};
          shorter = true;
        }
      }
    }
    return steps;
  }

  void follow(const std::vector<Step>& steps, std::size_t from, std::size_t target) {
    for (; from != target; from = steps[from].next) {
      if (steps[from].rank != nobody) gpu_of_[steps[from].rank] = steps[from].next;
    }
  }

  void count() {
    std::ranges::fill(load_, 0);
    for (const std::size_t gpu : gpu_of_) {
      if (gpu != nobody) ++load_[gpu];
    }
  }

  const std::vector<std::vector<int>>& distances_;
  std::size_t gpus_;
  std::size_t pool_;
  std::size_t most_;
  Cost weight_;
  std::vector<std::size_t> gpu_of_;
  std::vector<std::size_t> load_;
};

/// With `most` ranks for a GPU at most; none where that is too few.
std::optional<std::vector<int>> assign(const std::vector<std::vector<int>>& distances, std::size_t most) {
  Assignment assignment(distances, most);
  for (std::size_t rank = 0; rank < distances.size(); ++rank) {
    if (!assignment.add(rank)) return std::nullopt;
  }
  std::vector<int> gpus;
  for (std::size_t rank = 0; rank < distances.size(); ++rank) {
    assignment.settle(rank);
    gpus.push_back(assignment.gpu_of(rank));
  }
  return gpus;
}

bool can_use_any(const std::vector<int>& row) {
  return std::ranges::any_of(row, [](int distance) { return distance != out_of_reach; });
}

/// The distances of the ranks `on_node` to all GPUs that any of them has, and what number these have for each.
struct Table {
  std::vector<std::vector<int>> distances;
  std::vector<std::vector<int>> numbers;
};

Table table_of(const std::vector<GpuUser>& ranks, const std::vector<std::size_t>& on_node) {
  std::vector<std::array<std::uint8_t, 16>> known;
  for (const std::size_t rank : on_node) {
    for (const SeenGpu& gpu : ranks[rank].gpus) {
      if (std::ranges::find(known, gpu.uuid) == known.end()) known.push_back(gpu.uuid);
    }
  }
  Table table;
  for (const std::size_t rank : on_node) {
    std::vector<int> distances(known.size(), out_of_reach), numbers(known.size(), -1);
    for (std::size_t number = 0; number < ranks[rank].gpus.size(); ++number) {
      const SeenGpu& gpu = ranks[rank].gpus[number];
      const auto at = static_cast<std::size_t>(std::ranges::find(known, gpu.uuid) - known.begin());
      distances[at] = cost_of(gpu.distance);
      numbers[at] = static_cast<int>(number);
    }
    table.distances.push_back(std::move(distances));
    table.numbers.push_back(std::move(numbers));
  }
  return table;
}

/// "nearest_gpu on rank 0: environment variable CHORUS_GPUS=0,1".
std::string about(const std::vector<int>& wanted, const std::string& caller) {
  std::string text = caller + ": environment variable CHORUS_GPUS";
  for (std::size_t place = 0; place < wanted.size(); ++place) {
    text += (place == 0 ? '=' : ',') + std::to_string(wanted[place]);
  }
  return text;
}

/// What CHORUS_GPUS gives to a rank that is number `place` on its node.
int wanted_gpu(const GpuUser& user, std::size_t rank, std::size_t place, const std::vector<int>& wanted,
               const std::string& caller) {
  const std::string start = about(wanted, caller);
  if (place >= wanted.size()) {
    throw Error(
        ErrorCode::invalid_environment,
        fmt::format("{}: rank {} is number {} on its node (from 0) and there {}; name a GPU for each", start, rank,
                    place, wanted.size() == 1 ? "is 1 entry" : fmt::format("are {} entries", wanted.size())));
  }
  if (static_cast<std::size_t>(wanted[place]) < user.gpus.size()) return wanted[place];
  const std::string has = user.gpus.empty() ? "none" : fmt::format("0 to {}", user.gpus.size() - 1);
  throw Error(ErrorCode::invalid_environment,
              fmt::format("{}: entry {} names GPU {} for rank {}, which can use {}; name one by the number that CUDA "
                          "gives it in that process, where CUDA_VISIBLE_DEVICES counts",
                          start, place, wanted[place], rank, has));
}

}  // namespace

std::vector<int> assign_gpus(const std::vector<std::vector<int>>& distances) {
  std::vector<std::vector<int>> rows;
  for (const std::vector<int>& row : distances) {
    if (can_use_any(row)) rows.push_back(row);
  }
  std::vector<int> gpus(distances.size(), -1);
  if (rows.empty()) return gpus;
  std::optional<std::vector<int>> assigned;
  for (std::size_t most = (rows.size() - 1) / rows[0].size() + 1; !assigned; ++most) assigned = assign(rows, most);
  for (std::size_t rank = 0, row = 0; rank < gpus.size(); ++rank) {
    if (can_use_any(distances[rank])) gpus[rank] = (*assigned)[row++];
  }
  return gpus;
}

std::vector<int> take_gpus(const std::vector<GpuUser>& ranks, const std::vector<int>& wanted,
                           const std::string& caller) {
  std::map<std::uint64_t, std::vector<std::size_t>> nodes;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) nodes[ranks[rank].node].push_back(rank);
  std::vector<int> taken(ranks.size(), -1);
  for (const auto& [node, on_node] : nodes) {
    const Table table = table_of(ranks, on_node);
    const std::vector<int> assigned = wanted.empty() ? assign_gpus(table.distances) : std::vector<int>();
    for (std::size_t place = 0; place < on_node.size(); ++place) {
      const std::size_t rank = on_node[place];
      if (!wanted.empty()) {
        taken[rank] = wanted_gpu(ranks[rank], rank, place, wanted, caller);
      } else if (assigned[place] >= 0) {
        taken[rank] = table.numbers[place][static_cast<std::size_t>(assigned[place])];
      }
    }
  }
  return taken;
}

}  // namespace chorus
