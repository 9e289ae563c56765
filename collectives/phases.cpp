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
    }
  }
  return all;
}

Nodes::Nodes(Transport& transport, const Call& call, int root)
    : transport_(transport), whole_(chorus::problem_of(call, transport)), root_(root) {
  const std::vector<int>& nodes = transport.nodes();
  sizes_.resize(static_cast<std::size_t>(whole_.nodes));
  std::vector<int> speakers(sizes_.size(), no_rank);
  int index_in_node = 0;
  speaker_ = 0;
  for (int rank = 0; rank < transport.size(); ++rank) {
    const auto node = static_cast<std::size_t>(nodes[static_cast<std::size_t>(rank)]);
    if (rank == root && static_cast<int>(node) == number()) speaker_ = index_in_node;
    if (static_cast<int>(node) == number()) ++index_in_node;
    if (speakers[node] == no_rank || rank == root) speakers[node] = rank;
    ++sizes_[node];
  }
  ranks_.resize(static_cast<std::size_t>(transport.size()));
  std::iota(ranks_.begin(), ranks_.end(), 0);
  in_order_ = std::ranges::is_sorted(nodes);
  if (!in_order_) std::ranges::stable_sort(ranks_, {}, [&](int rank) { return node_of(rank); });
  if (speaks()) speakers_.emplace(transport, std::move(speakers), channel_of_speakers);
}

bool Nodes::equally_large() const noexcept {
  return std::ranges::adjacent_find(sizes_, std::not_equal_to<>()) == sizes_.end();
}

int Nodes::before(int node) const noexcept { return std::accumulate(sizes_.begin(), sizes_.begin() + node, 0); }

Task<> Nodes::run(const Phase& phase, Arguments arguments) {
  const bool inside = phase.where == Phase::Where::inside;
  Transport& where = inside ? *transport_.node() : static_cast<Transport&>(*speakers_);
  const Problem problem = problem_of(phase, whole_, where.size());
  arguments.call = problem.call;
  if (where.size() == 1) {
    if (arguments.in != nullptr && arguments.out != nullptr) {
      copy_unless_same(arguments.out, arguments.in, arguments.call.bytes());
    }
    co_return;
  }
  arguments.call.root = inside ? speaker_ : std::max(0, root_ == no_rank ? 0 : node_of(root_));
  co_await algorithm_for(problem).run(where, arguments);
}

}  // namespace chorus
