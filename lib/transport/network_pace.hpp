// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <cstddef>
#include <vector>

namespace chorus {

class Transport;

/// What messages between nodes take over distances that double, as in most algorithms. Zero: not measured.
struct NetworkPace {
  double latency_us = 0;                   ///< of a short one, where one rank of each node sends
  double megabytes_per_second = 0;         ///< of long ones, likewise
  double by_all_latency_us = 0;            ///< of a short one, where all ranks of a node send at a time
  double by_all_megabytes_per_second = 0;  ///< what they send together
  double to_next_gain = 1;                 ///< as many times as much goes where each node sends to the next one alone
  int nodes = 0;                           ///< where it was measured
  int senders = 0;                         ///< of a node, all of which send at a time

  [[nodiscard]] bool known() const noexcept { return latency_us > 0; }
  /// True where ranks on nodes of these sizes need not measure anew: it was measured on at least half as many nodes,
  /// with half as many ranks each.
  [[nodiscard]] bool covers(const std::vector<int>& node_sizes) const;
  friend bool operator==(const NetworkPace&, const NetworkPace&) = default;
};

/// Rings in which ranks exchange messages, each with the one before and the one after it.
enum class Rings {
  of_first_ranks,  ///< one of the first rank of every node
  across_nodes,    ///< one of every node's first rank, one of every second rank ...
  inside_nodes     ///< one of the ranks of each node
};

/// How many ranks of a node exchange at a time in Rings::across_nodes, where most do: a rank whose number only its own
/// node has is in no ring. `node_sizes`: of several nodes.
[[nodiscard]] int senders_across_nodes(const std::vector<int>& node_sizes);

/// Messages that all ranks exchange in such rings.
struct Exchanges {
  enum class With {
    doubling,  ///< the ranks at the distances 1, 2, 4, ... in turn, as far as the ring reaches
    next,      ///< those at the distance 1 alone
    three      ///< those at the distances 1, 2 and 3, or as far as the ring reaches, at a time
  };
  Rings rings;
  std::size_t bytes;
  int repetitions;  ///< in a row; at least one at each distance
  With with = With::doubling;
};

/// The time of an exchange in microseconds, of the slowest rank in the mean of those in a row, as an algorithm
/// exchanges many; the least of three such rows, as what disturbs them only adds. 0 where there is no such ring. Run by
/// every rank of `transport`; each gets the same.
Task<double> time_exchanges(Transport& transport, Exchanges exchanges);

/// NetworkPace::to_next_gain, by what an exchange of long messages took with the next ranks and over distances that
/// double; 1 where they are about as fast.
[[nodiscard]] double to_next_gain(double to_next_us, double doubling_us);

/// Measures it; run by every rank of `transport`, which spans several nodes. Each gets the same. Sends 0.7 MiB for each
/// node, more from 16 nodes on, twice where a node has several ranks, and half as much from four nodes on: some 12 to
/// 20 ms with 125 MB/s, below one on fast networks.
Task<NetworkPace> measure_network(Transport& transport);

/// What this process has measured or been told, so that its next communicators need not measure again.
[[nodiscard]] NetworkPace remembered_network() noexcept;
void remember_network(const NetworkPace& pace) noexcept;

}  // namespace chorus
