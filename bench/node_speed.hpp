// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/process_copy.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chorus::bench {

/// What a node does at best: the least times of a few repetitions, in each that of the slowest rank. All rates are in
/// megabytes (10^6 bytes) a second and rank, while every rank does the same.
struct NodeSpeed {
  /// From one rank to another through shared memory.
  struct Way {
    double write = 0;  ///< from private memory over what another rank has read
    double read = 0;   ///< what another rank has just written so, into private memory
  };
  double line_us = 0;      ///< one way of a cache line between ranks 0 and 1: half of a round of two flags
  double copy = 0;         ///< private to private memory
  Way cached;              ///< written by plain stores
  Way streamed;            ///< written past the caches
  double system_read = 0;  ///< by the system from another rank's private memory; 0 where it forbids that
  double reduce = 0;       ///< bytes of the result of two inputs, private to private memory

  [[nodiscard]] double read() const noexcept { return std::max(cached.read, streamed.read); }
};

/// Measures the node of a job of two ranks or more that share memory. Every function is called by all ranks.
class NodeMeter {
 public:
  /// For sizes up to `largest` bytes, or up to what the ranks' shares of the meter's 32 MiB of shared memory hold.
  explicit NodeMeter(std::size_t largest);
  ~NodeMeter();
  NodeMeter(const NodeMeter&) = delete;
  NodeMeter& operator=(const NodeMeter&) = delete;

  /// With messages of `bytes`; of shorter ones than 16 KiB, which the clock cannot tell apart, and of longer ones than
  /// the meter is made for, as with the nearest that it measures. Takes some milliseconds.
  [[nodiscard]] NodeSpeed measure(std::size_t bytes);

 private:
  /// The part of the shared memory that belongs to `rank`.
  struct Area {
    std::byte* flag = nullptr;  ///< alone in its cache line
    std::byte* data = nullptr;
  };
  [[nodiscard]] Area area_of(int rank) const;
  /// The private memory of the rank after this one, for the system to read.
  struct Neighbour {
    std::int32_t pid = 0;
    MemoryProbe probe;
    const std::byte* in = nullptr;
  };
  /// That neighbour; one of PID 0 where some rank cannot read the memory of its own.
  [[nodiscard]] Neighbour readable_neighbour() const;
  [[nodiscard]] double line_us();
  void measure_ways(std::size_t bytes, NodeSpeed& speed);
  [[nodiscard]] double system_read(std::size_t bytes);

  int rank_ = 0, ranks_ = 1;
  std::size_t longest_;
  MPI_Win window_ = MPI_WIN_NULL;
  Area mine_, next_;           ///< of this rank and of the one after it
  std::byte* peer_ = nullptr;  ///< the flag of rank 1 on rank 0 and of rank 0 elsewhere
  std::vector<std::byte> in_, out_;
  Neighbour neighbour_;
};

}  // namespace chorus::bench
