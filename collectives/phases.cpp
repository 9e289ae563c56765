// SPDX-License-Identifier: Apache-2.0
#include "phases.hpp"

#include "carry_out.hpp"
#include "choose.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace chorus {
namespace {

constexpr int channel_of_speakers = 3;

/// The problem of a phase among so many ranks.
Problem problem_of(const Phase& phase, const Problem& whole, int ranks) {
  const bool inside = phase.where == Phase::Where::inside;
  Problem problem{.call = whole.call, .ranks = ranks, .nodes = inside ? 1 : ranks};
  problem.call.collective = phase.collective;
  problem.call.count = phase.count;
  problem.call.root = 0;
  problem.largest_node = inside ? ranks : 1;
  problem.shared = inside;
  problem.slot_bytes = whole.slot_bytes;
  return problem;
}

const Algorithm& algorithm_for(const Problem& problem) { return fastest(problem, LinkModel()); }

LevelTraffic sum(const LevelTraffic& a, const LevelTraffic& b) {
  return {.messages = a.messages + b.messages, .bytes = a.bytes + b.bytes, .reduced = a.reduced + b.reduced};
}

}  // namespace

bool has_nodes(const Problem& problem) {
  return problem.nodes > 1 && problem.nodes < problem.ranks && problem.slot_bytes > 0;
}

Traffic traffic_of(const Problem& whole, std::initializer_list<Phase> phases) {
  Traffic all{.shared = {}, .messages = {}, .one_for_each_node = true};
  for (const Phase& phase : phases) {
    const bool inside = phase.where == Phase::Where::inside;
    const Problem problem = problem_of(phase, whole, inside ? whole.largest_node : whole.nodes);
    const Traffic traffic = algorithm_for(problem).traffic(problem);
    if (inside) {
      const double arrivals = traffic.arrivals > 0 ? traffic.arrivals : traffic.shared.messages * problem.ranks;
      all.shared = sum(all.shared, traffic.shared);
      all.arrivals += arrivals;
    } else {
      all.messages = sum(all.messages, traffic.messages);
      all.waited = sum(all.waited, traffic.waited);
      all.together += traffic.together;
    }
  }
  return all;
}

Nodes::Nodes(Transport& transport, const Call& call, int root)
    : transport_(transport),
      whole_(chorus::problem_of(call, transport)),
      root_(root),
      in_order_(std::ranges::is_sorted(transport.nodes())) {
  if (root == no_rank) return;
  const auto first = ranks().begin() + before(node_of(root));
  const auto place = std::find(first, ranks().end(), root) - first;
  if (place == 0) return;  // it is its node's first rank
  if (node_of(root) == number()) speaker_ = static_cast<int>(place);
  if (!speaks()) return;
  std::vector<int> speakers;
  for (std::size_t node = 0, begin = 0; node < sizes().size(); begin += static_cast<std::size_t>(sizes()[node++])) {
    speakers.push_back(static_cast<int>(node) == node_of(root) ? root : ranks()[begin]);
  }
  speakers_.emplace(transport, std::move(speakers), channel_of_speakers);
}

bool Nodes::equally_large() const noexcept {
  return std::ranges::adjacent_find(sizes(), std::not_equal_to<>()) == sizes().end();
}

int Nodes::before(int node) const noexcept { return std::accumulate(sizes().begin(), sizes().begin() + node, 0); }

Task<> Nodes::run(const Phase& phase, Arguments arguments) {
  const bool inside = phase.where == Phase::Where::inside;
  Transport* const speakers = speakers_ ? &*speakers_ : transport_.leaders();
  Transport& where = inside ? *transport_.node() : *speakers;
  const Problem problem = problem_of(phase, whole_, where.size());
  arguments.call = problem.call;
  if (where.size() == 1) {
    if (arguments.in != nullptr && arguments.out != nullptr) {
      copy_unless_same(arguments.out, arguments.in, arguments.call.bytes());
    }
    co_return;
  }
  arguments.call.root = inside ? speaker_ : root_ == no_rank ? 0 : node_of(root_);
  co_await algorithm_for(problem).run(where, arguments);
}

}  // namespace chorus
