// SPDX-License-Identifier: Apache-2.0
#include "transport/network_pace.hpp"

#include "task/when_all.hpp"
#include "transport/gathering.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int warm_up = 2;  // the first messages of two ranks connect them
constexpr std::size_t short_message = 8;
constexpr std::size_t long_message = std::size_t{64} << 10U;  // of all ranks of a node together
constexpr std::size_t shortest_long_message = 4096;
constexpr int repetitions_of_short = 8;
constexpr int repetitions_of_long = 3;

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

/// Those of this rank at the distances 1, 2, ... and again from 1 on where the ring is short; none where it is in none.
std::vector<Neighbours> neighbours_of(const Transport& transport, Rings rings, int how_many) {
  const std::vector<int> ring = ring_of(transport, rings);
  if (ring.size() < 2) return {};
  const auto me = static_cast<std::size_t>(std::ranges::find(ring, transport.rank()) - ring.begin());
  std::vector<Neighbours> neighbours;
  for (std::size_t i = 0; i < static_cast<std::size_t>(how_many); ++i) {
    const std::size_t distance = 1 + i % (ring.size() - 1);
    neighbours.push_back({ring[(me + distance) % ring.size()], ring[(me + ring.size() - distance) % ring.size()]});
  }
  return neighbours;
}

/// The messages that one rank exchanges at a time, of so many bytes each.
class Messages {
 public:
  Messages(Transport& transport, std::vector<Neighbours> neighbours, std::size_t bytes)
      : transport_(transport),
        neighbours_(std::move(neighbours)),
        bytes_(bytes),
        outgoing_(transport.scratch(bytes)),
        incoming_(transport.scratch(bytes * neighbours_.size())) {
    std::ranges::fill(outgoing_.bytes(), std::byte{});
  }

  Task<> exchange() {
    if (neighbours_.size() == 1) {
      co_await transport_.sendrecv(outgoing_.bytes(), neighbours_[0].next, incoming_.bytes(), neighbours_[0].previous);
      co_return;
    }
    std::vector<Task<>> tasks;
    for (std::size_t i = 0; i < neighbours_.size(); ++i) tasks.push_back(exchange_one(i));
    co_await when_all(tasks);
  }

 private:
  Task<> exchange_one(std::size_t i) {
    co_await transport_.sendrecv(outgoing_.bytes(), neighbours_[i].next, incoming_.bytes().subspan(i * bytes_, bytes_),
                                 neighbours_[i].previous);
  }

  Transport& transport_;
  std::vector<Neighbours> neighbours_;
  std::size_t bytes_;
  Scratch outgoing_;
  Scratch incoming_;
};

/// Megabytes a second where a message of so many bytes takes that much longer than a short one.
double rate(std::size_t bytes, double long_us, double short_us) {
  return static_cast<double>(bytes) / std::max(long_us - short_us, long_us / 10);
}

struct Remembered {
  std::mutex mutex;
  NetworkPace pace;
};
Remembered& remembered() noexcept {
  static Remembered pace_of_process;
  return pace_of_process;
}

}  // namespace

Task<double> time_exchanges(Transport& transport, Rings rings, std::size_t bytes, int repetitions, int together) {
  using Rows = std::array<double, 3>;
  std::vector<Rows> all(static_cast<std::size_t>(transport.size()));
  if (std::vector<Neighbours> neighbours = neighbours_of(transport, rings, together); !neighbours.empty()) {
    Messages messages(transport, std::move(neighbours), bytes);
    for (int repetition = 0; repetition < warm_up; ++repetition) co_await messages.exchange();
    for (double& us : all[static_cast<std::size_t>(transport.rank())]) {
      const auto began = Clock::now();
      for (int repetition = 0; repetition < repetitions; ++repetition) co_await messages.exchange();
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

Task<NetworkPace> measure_network(Transport& transport) {
  NetworkPace pace;
  pace.latency_us = co_await time_exchanges(transport, Rings::of_first_ranks, short_message, repetitions_of_short);
  const double long_us = co_await time_exchanges(transport, Rings::of_first_ranks, long_message, repetitions_of_long);
  pace.megabytes_per_second = rate(long_message, long_us, pace.latency_us);
  pace.by_all_latency_us = pace.latency_us;
  pace.by_all_megabytes_per_second = pace.megabytes_per_second;
  const auto ranks = static_cast<std::size_t>(std::ranges::max(transport.node_sizes()));
  if (ranks == 1) co_return pace;
  const std::size_t share = std::max(long_message / ranks, shortest_long_message);
  pace.by_all_latency_us = co_await time_exchanges(transport, Rings::across_nodes, short_message, repetitions_of_short);
  const double shares_us = co_await time_exchanges(transport, Rings::across_nodes, share, repetitions_of_long);
  // Beside one rank that sends, as latencies overlap with bytes here: all of them cannot be slower.
  const double gain = static_cast<double>(share * ranks) / shares_us / (static_cast<double>(long_message) / long_us);
  pace.by_all_megabytes_per_second = pace.megabytes_per_second * std::max(1.0, gain);
  co_return pace;
}

NetworkPace remembered_network() noexcept {
  const std::scoped_lock lock(remembered().mutex);
  return remembered().pace;
}

void remember_network(const NetworkPace& pace) noexcept {
  const std::scoped_lock lock(remembered().mutex);
  remembered().pace = pace;
}

}  // namespace chorus
