// SPDX-License-Identifier: Apache-2.0
#include "phases.hpp"

#include "base/machine.hpp"
#include "carry_out.hpp"
#include "choose.hpp"
#include "link_model.hpp"
#include "reduction.hpp"
#include "remembered.hpp"
#include "transport/shared_group.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace chorus {
namespace {

constexpr double latencies_of_segment = 8;

/// The problem of a phase among so many ranks.
Problem problem_of(const Phase& phase, const Problem& whole, int ranks) {
  const bool inside = phase.where == Phase::Where::inside;
  Problem problem{.call = whole.call, .ranks = ranks, .nodes = inside ? 1 : ranks};
  problem.call.collective = phase.collective;
  problem.call.count = phase.count;
  problem.call.root = 0;
  problem.largest_node = inside ? ranks : phase.where == Phase::Where::along ? whole.smallest_node : 1;
  problem.smallest_node = problem.largest_node;
  problem.shared = inside && whole.slot_bytes > 0;
  problem.slot_bytes = whole.slot_bytes;
  problem.links = whole.links;
  return problem;
}

const Algorithm& algorithm_for(const Phase& phase, Problem problem) {
  static thread_local Remembered<const Algorithm*> chosen;
  problem.call.count = std::max(problem.call.count, phase.chosen_for);
  return *chosen.of(problem, [&] { return &fastest(problem, links_of(problem)); });
}

/// Adds so many times `traffic` to `sum`.
void add(LevelTraffic& sum, const LevelTraffic& traffic, double times) {
  sum.messages += times * traffic.messages;
  sum.bytes += times * traffic.bytes;
  sum.reduced += times * traffic.reduced;
}

/// Adds what a phase sends between nodes, so many times.
void add_between(Traffic& sum, const Traffic& traffic, double times) {
  const double to_next = sum.to_next * sum.messages.bytes + times * traffic.to_next * traffic.messages.bytes;
  add(sum.messages, traffic.messages, times);
  add(sum.waited, traffic.waited, times);
  add(sum.together, traffic.together, times);
  sum.to_next = sum.messages.bytes > 0 ? to_next / sum.messages.bytes : 0;
}

/// A phase of one rank.
void copy_alone(const Arguments& arguments) {
  if (arguments.in == nullptr || arguments.out == nullptr) return;
  const Section all{0, arguments.call.bytes()};
  const Section from = arguments.in_sections.empty() ? all : arguments.in_sections[0];
  const Section to = arguments.out_sections.empty() ? all : arguments.out_sections[0];
  copy_unless_same(arguments.out + to.offset, arguments.in + from.offset, from.bytes);
}

/// For `fastest_segments`, which remembers it.
Segments find_fastest_segments(const Problem& whole, Traffic (*traffic)(const Problem&, const Segments&)) {
  const std::size_t count = whole.call.count;
  const std::size_t shortest = machine::shortest_segment_of_lane / whole.call.element_bytes();
  const LinkModel& links = links_of(whole);
  Segments best(count, std::max<std::size_t>(count, 1), 1);
  double best_us = 0;
  constexpr std::size_t fewest = 4, most = 64;  // few, as to ask the model takes 10 to 60 us each time
  for (std::size_t number = fewest; number <= most && count / number >= std::max<std::size_t>(shortest, 1);
       number *= 4) {
    if (number == fewest) best_us = links.microseconds(traffic(whole, best), whole);
    const Segments segments(count, count / number, 1);
    const double us = links.microseconds(traffic(whole, segments), whole);
    if (us >= best_us) continue;
    best = segments;
    best_us = us;
  }
  return best;
}

}  // namespace

bool has_nodes(const Problem& problem) { return problem.nodes > 1 && problem.nodes < problem.ranks; }

Phase between_nodes(const Problem& whole, Collective even, Collective uneven) {
  const bool equal = whole.smallest_node == whole.largest_node;
  const int blocks = equal ? whole.largest_node : whole.ranks;
  return {Phase::Where::between, equal ? even : uneven, whole.call.count * static_cast<std::size_t>(blocks)};
}

std::size_t segment_of_lane(const Problem& problem) {
  const std::size_t most = 2 * (problem.slot_bytes > 0 ? problem.slot_bytes : machine::slot_bytes);
  const double wished = latencies_of_segment * links_of(problem).bytes_in_a_latency(problem.smallest_node);
  const auto bytes = static_cast<std::size_t>(std::min(wished, static_cast<double>(most)));
  const std::size_t least = std::min(machine::shortest_segment_of_lane, most);
  return std::max<std::size_t>(1, std::max(bytes, least) / problem.call.element_bytes());
}

Traffic traffic_of(const Problem& whole, std::span<const Phase> phases, double overlap) {
  Traffic all{.shared = {}, .messages = {}, .overlap = overlap, .lanes = 1};
  for (const Phase& phase : phases) {
    if (phase.times == 0) continue;
    const bool inside = phase.where == Phase::Where::inside;
    const Problem problem = problem_of(phase, whole, inside ? whole.largest_node : whole.nodes);
    const Traffic traffic = algorithm_for(phase, problem).traffic(problem);
    if (inside) {
      const double arrivals = traffic.arrivals > 0 ? traffic.arrivals : traffic.shared.messages * problem.ranks;
      add(all.shared, traffic.shared, phase.times);
      add(all.read, traffic.read, traffic.one_reads ? phase.times / links_of(whole).readers_of_a_core : phase.times);
      all.alone += phase.times * traffic.alone;
      all.far += phase.times * traffic.far;
      add(all.inside, traffic.messages, phase.times);
      add(all.inside, traffic.waited, phase.times);
      add(all.inside_together, traffic.together, phase.times);
      all.arrivals += phase.times * arrivals;
    } else {
      add_between(all, traffic, phase.times);
    }
    if (phase.where == Phase::Where::along) all.lanes = whole.smallest_node;
  }
  return all;
}

Segments fastest_segments(const Problem& whole, Traffic (*traffic)(const Problem&, const Segments&)) {
  static thread_local Remembered<Segments> found;
  return found.of(whole, [&] { return find_fastest_segments(whole, traffic); });
}

Nodes::Nodes(Transport& transport, const Arguments& arguments, int root)
    : transport_(transport), whole_(chorus::problem_of(arguments.call, transport)), root_(root) {
  whole_.links = arguments.links;
  if (root == no_rank || node_of(root) != number()) return;
  const auto first = ranks().begin() + before(number());
  speaker_ = static_cast<int>(std::find(first, ranks().end(), root) - first);
}

Nodes::Nodes(Transport& transport, const Arguments& arguments, Last /*last*/)
    : transport_(transport),
      whole_(chorus::problem_of(arguments.call, transport)),
      last_(true),
      speaker_(transport.node()->size() - 1) {
  whole_.links = arguments.links;
}

bool Nodes::equally_large() const noexcept { return whole_.smallest_node == whole_.largest_node; }

int Nodes::before(int node) const noexcept { return std::accumulate(sizes().begin(), sizes().begin() + node, 0); }

void Nodes::from_ranks_to_nodes(std::byte* by_node, const std::byte* by_rank, std::size_t block_bytes) const {
  for (const int rank : ranks()) {
    copy_unless_same(by_node, by_rank + static_cast<std::size_t>(rank) * block_bytes, block_bytes);
    by_node += block_bytes;
  }
}

void Nodes::from_nodes_to_ranks(std::byte* by_rank, const std::byte* by_node, std::size_t block_bytes) const {
  for (const int rank : ranks()) {
    copy_unless_same(by_rank + static_cast<std::size_t>(rank) * block_bytes, by_node, block_bytes);
    by_node += block_bytes;
  }
}

Transport& Nodes::speakers() {
  if (speakers_) return *speakers_;
  const bool first_ranks =
      !last_ && (root_ == no_rank || ranks()[static_cast<std::size_t>(before(node_of(root_)))] == root_);
  if (first_ranks) return *transport_.leaders();
  std::vector<int> speakers;
  for (std::size_t node = 0, begin = 0; node < sizes().size(); begin += static_cast<std::size_t>(sizes()[node++])) {
    const bool has_root = !last_ && static_cast<int>(node) == node_of(root_);
    const std::size_t end = begin + static_cast<std::size_t>(sizes()[node]);
    speakers.push_back(has_root ? root_ : ranks()[last_ ? end - 1 : begin]);
  }
  return speakers_.emplace(transport_, std::move(speakers), Channel::speakers);
}

Transport& Nodes::ranks_of(Phase::Where where) {
  if (where == Phase::Where::between) return speakers();
  return where == Phase::Where::inside ? *transport_.node() : *transport_.lane();
}

Task<> Nodes::run(Phase phase, Arguments arguments) {
  Transport& where = ranks_of(phase.where);
  Problem problem = problem_of(phase, whole_, where.size());
  problem.single_copy = problem.shared && where.shared()->reads();
  if (problem.shared) problem.domains = where.shared()->shape().radices();
  arguments.call = problem.call;
  arguments.links = problem.links;
  if (where.size() == 1) {
    copy_alone(arguments);
    co_return;
  }
  const bool inside = phase.where == Phase::Where::inside;
  arguments.call.root = inside ? speaker_ : root_ == no_rank ? 0 : node_of(root_);
  const Algorithm& algorithm = algorithm_for(phase, problem);
  if (problem.shared && !std::exchange(met_, true) && !algorithm.arrives) co_await where.shared()->meet();
  co_await algorithm.run(where, arguments);
}

}  // namespace chorus
