// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <cstddef>

namespace chorus {

class Transport;

/// What messages between nodes take. Zero: not measured.
struct NetworkPace {
  double latency_us = 0;                   ///< of a short one, where one rank of each node sends
  double megabytes_per_second = 0;         ///< of long ones, likewise
  double by_all_latency_us = 0;            ///< of a short one, where all ranks of a node send at a time
  double by_all_megabytes_per_second = 0;  ///< what they send together

  [[nodiscard]] bool known() const noexcept { return latency_us > 0; }
  friend bool operator==(const NetworkPace&, const NetworkPace&) = default;
};

/// Rings in which ranks exchange messages, each with the one before and the one after it.
enum class Rings {
  of_first_ranks,  ///< one of the first rank of every node
  across_nodes,    ///< one of every node's first rank, one of every second rank ...
  inside_nodes     ///< one of the ranks of each node
};

/// Where ranks exchange messages of so many bytes in such rings: the time of an exchange in microseconds, of the
/// slowest rank in the mean of so many in a row, as an algorithm exchanges many; the least of three such rows, as what
/// disturbs them only adds. 0 where there is no such ring. Run by every rank of `transport`; each gets the same.
/// `together`: so many messages each way at a time, with the ranks at the distances 1, 2, ... in the ring, or as far as
/// it reaches.
Task<double> time_exchanges(Transport& transport, Rings rings, std::size_t bytes, int repetitions, int together = 1);

/// Measures it; run by every rank of `transport`, which spans several nodes. Each gets the same. Sends 0.7 MiB for each
/// node, twice where a node has several ranks: some 12 ms with 125 MB/s, below one on fast networks.
Task<NetworkPace> measure_network(Transport& transport);

/// What this process has measured or been told, so that its next communicators need not measure again.
[[nodiscard]] NetworkPace remembered_network() noexcept;
void remember_network(const NetworkPace& pace) noexcept;

}  // namespace chorus
