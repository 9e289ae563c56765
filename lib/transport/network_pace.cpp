// SPDX-License-Identifier: Apache-2.0
#include "transport/network_pace.hpp"

#include "base/guarded.hpp"
#include "task/when_all.hpp"
#include "transport/gathering.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up_exchanges = 2;  // the first messages of two ranks connect them
constexpr std::size_t short_message = 8;
constexpr std::size_t long_message = std::size_t{64} << 10U;  // of all ranks of a node together
constexpr std::size_t shortest_long_message = 4096;
constexpr int repetitions_of_short = 8;
constexpr int repetitions_of_long = 3;
constexpr std::size_t few_nodes = 3;  // of which all are neighbours of all

/// Two ranks at the same distance in a ring from one that is between them.
struct Neighbours {
  int next = no_rank;
  int previous = no_rank;
};

/// The ranks of this rank's ring, in their order there; empty where it is in none.
std::vector<int> ring_of(const Transport& transport, Rings rings) {
  const std::vector<int>& nodes = transport.nodes();  // empty: all are on one
  const auto node_of = [&](int rank) { return nodes.empty() ? 0 : nodes[static_cast<std::size_t>(rank)]; };
  std::vector<int> ranks_before(std::max<std::size_t>(transport.node_sizes().size(), 1));  // on each node
  std::vector<int> numbers;                                                                // of the ranks there
  for (int rank = 0; rank < transport.size(); ++rank) {
    numbers.push_back(ranks_before[static_cast<std::size_t>(node_of(rank))]++);
  }
  const auto me = static_cast<std::size_t>(transport.rank());
  if (rings == Rings::of_first_ranks && numbers[me] != 0) return {};
  std::vector<int> ring;
  for (int rank = 0; rank < transport.size(); ++rank) {
    const bool with_me = rings == Rings::inside_nodes ? node_of(rank) == node_of(transport.rank())
                                                      : numbers[static_cast<std::size_t>(rank)] == numbers[me];
    if (with_me) ring.push_back(rank);
  }
  return ring;
}

/// Those of this rank that such exchanges are with; none where it is in no ring.
std::vector<Neighbours> neighbours_of(const Transport& transport, const Exchanges& exchanges) {
  const std::vector<int> ring = ring_of(transport, exchanges.rings);
  if (ring.size() < 2) return {};
  const auto me = static_cast<std::size_t>(std::ranges::find(ring, transport.rank()) - ring.begin());
  std::vector<Neighbours> neighbours;
  const auto add = [&](std::size_t distance) {
    neighbours.push_back({ring[(me + distance) % ring.size()], ring[(me + ring.size() - distance) % ring.size()]});
  };
  switch (exchanges.with) {
    case Exchanges::With::doubling:
      for (std::size_t distance = 1; distance < ring.size(); distance *= 2) add(distance);
      break;
    case Exchanges::With::next:
      add(1);
      break;
    case Exchanges::With::three:
      for (std::size_t i = 0; i < 3; ++i) add(1 + i % (ring.size() - 1));
      break;
  }
  return neighbours;
}

/// The messages of one rank.
class Messages {
 public:
  Messages(Transport& transport, const Exchanges& exchanges)
      : transport_(transport),
        neighbours_(neighbours_of(transport, exchanges)),
        together_(exchanges.with == Exchanges::With::three),
        bytes_(exchanges.bytes),
        outgoing_(transport.scratch(bytes_)),
        incoming_(transport.scratch(bytes_ * neighbours_.size())) {
    std::ranges::fill(outgoing_.bytes(), std::byte{});
  }

  /// How many exchanges follow one another before one is with the same ranks again; 0 where there are none.
  [[nodiscard]] int in_turn() const {
    return together_ ? std::min<int>(1, static_cast<int>(neighbours_.size())) : static_cast<int>(neighbours_.size());
  }

  Task<> exchange(int number) {
    if (!together_) {
      co_await exchange_with(static_cast<std::size_t>(number) % neighbours_.size());
      co_return;
    }
    std::vector<Task<>> tasks;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) tasks.push_back(exchange_with(i));
    co_await when_all(tasks);
  }

 private:
  Task<> exchange_with(std::size_t i) {
    co_await transport_.sendrecv(outgoing_.bytes(), neighbours_[i].next, incoming_.bytes().subspan(i * bytes_, bytes_),
                                 neighbours_[i].previous);
  }

  Transport& transport_;
  std::vector<Neighbours> neighbours_;
  bool together_;
  std::size_t bytes_;
  Scratch outgoing_;
  Scratch incoming_;
};

/// Megabytes a second where a message of so many bytes takes that much longer than a short one.
double rate(std::size_t bytes, double long_us, double short_us) {
  return static_cast<double>(bytes) / std::max(long_us - short_us, long_us / 10);
}

Guarded<NetworkPace>& network_of_process() noexcept {
  static Guarded<NetworkPace> network;
  return network;
}

}  // namespace

bool NetworkPace::covers(const std::vector<int>& node_sizes) const {
  return known() && 2 * nodes >= static_cast<int>(node_sizes.size()) && 2 * senders >= senders_across_nodes(node_sizes);
}

int senders_across_nodes(const std::vector<int>& node_sizes) {
  std::vector<int> sizes = node_sizes;
  std::ranges::nth_element(sizes, sizes.begin() + 1, std::ranges::greater());
  return sizes[1];
}

Task<double> time_exchanges(Transport& transport, Exchanges exchanges) {
  using Rows = std::array<double, 3>;
  std::vector<Rows> all(static_cast<std::size_t>(transport.size()));
  Messages messages(transport, exchanges);
  if (const int in_turn = messages.in_turn(); in_turn > 0) {
    // At each distance as often.
    const int repetitions = (exchanges.repetitions + in_turn - 1) / in_turn * in_turn;
    for (int number = 0; number < warm_up_exchanges * in_turn; ++number) co_await messages.exchange(number);
    for (double& us : all[static_cast<std::size_t>(transport.rank())]) {
      const auto began = Clock::now();
      for (int number = 0; number < repetitions; ++number) co_await messages.exchange(number);
      const std::chrono::duration<double, std::micro> took = Clock::now() - began;
      us = took.count() / repetitions;
    }
  }
  const Bytes table = std::as_writable_bytes(std::span(all));
  co_await gather_records(transport, table);
  Rows slowest{};
  for (const Rows& rows : all) std::ranges::transform(slowest, rows, slowest.begin(), std::ranges::max);
  co_return std::ranges::min(slowest);
}

double to_next_gain(double to_next_us, double doubling_us) {
  constexpr double clearly = 1.5;  // what is less is noise
  const double gain = to_next_us > 0 ? doubling_us / to_next_us : 1;
  return gain > clearly ? gain : 1;
}

Task<NetworkPace> measure_network(Transport& transport) {
  NetworkPace pace;
  pace.nodes = static_cast<int>(transport.node_sizes().size());
  pace.senders = senders_across_nodes(transport.node_sizes());
  Exchanges exchanges{.rings = Rings::of_first_ranks, .bytes = short_message, .repetitions = repetitions_of_short};
  pace.latency_us = co_await time_exchanges(transport, exchanges);
  exchanges.bytes = long_message;
  exchanges.repetitions = repetitions_of_long;
  const double long_us = co_await time_exchanges(transport, exchanges);
  pace.megabytes_per_second = rate(long_message, long_us, pace.latency_us);
  if (transport.node_sizes().size() > few_nodes) {
    exchanges.with = Exchanges::With::next;
    pace.to_next_gain = to_next_gain(co_await time_exchanges(transport, exchanges), long_us);
  }
  pace.by_all_latency_us = pace.latency_us;
  pace.by_all_megabytes_per_second = pace.megabytes_per_second;
  const auto ranks = static_cast<std::size_t>(pace.senders);
  if (ranks == 1) co_return pace;
  const std::size_t share = std::max(long_message / ranks, shortest_long_message);
  exchanges = {.rings = Rings::across_nodes, .bytes = short_message, .repetitions = repetitions_of_short};
  pace.by_all_latency_us = co_await time_exchanges(transport, exchanges);
  pace.latency_us = std::min(pace.latency_us, pace.by_all_latency_us);  // one alone takes no longer than beside others
  exchanges.bytes = share;
  exchanges.repetitions = repetitions_of_long;
  const double shares_us = co_await time_exchanges(transport, exchanges);
  // Beside one rank that sends, as latencies overlap with bytes here: all of them cannot be slower.
  const double gain = static_cast<double>(share * ranks) / shares_us / (static_cast<double>(long_message) / long_us);
  pace.by_all_megabytes_per_second = pace.megabytes_per_second * std::max(1.0, gain);
  co_return pace;
}

NetworkPace remembered_network() noexcept { return network_of_process().get(); }

void remember_network(const NetworkPace& pace) noexcept {
  network_of_process().update([&](NetworkPace& network) { network = pace; });
}

}  // namespace chorus
