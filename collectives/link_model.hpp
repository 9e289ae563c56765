// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "transport/pace.hpp"

namespace chorus {

/// What one level of the machine takes.
struct Link {
  double latency_us = 0;            ///< of one message or round, in microseconds
  double megabytes_per_second = 0;  ///< 10^6 bytes per second
};

/// The machine in numbers: turns Traffic into time. Written in a tuning file under these names; what is built in was
/// measured on two cores of a server of 2023 (docs/performance.md) and is right in its proportions.
struct LinkModel {
  Link shared{.latency_us = 0.1,
              .megabytes_per_second = 16000};  ///< rounds, and bytes written and read, in shared memory
  double shared_peer_us = 0.02;                ///< a further line read, for each rank beyond two
  /// What a package takes in from the others, by all its ranks together. Not measured: the links between packages of
  /// servers of 2020 to 2024 have 30 to 60 GB/s each way that programs reach.
  double far_megabytes_per_second = 40000;
  double task_us = 0.15;                                     ///< a round driven as a coroutine, beyond one that is not
  Link read{.latency_us = 2, .megabytes_per_second = 9000};  ///< of another process's memory
  double long_read_megabytes_per_second = 9000;              ///< the same, of blocks of 256 KiB and more
  Link node{.latency_us = 1, .megabytes_per_second = 4000};  ///< messages inside a node
  Link network{.latency_us = 2, .megabytes_per_second = 5000};  ///< messages between nodes
  double further_message = 0.6;  ///< of a latency, for a message between nodes beside another one under way
  double reduce_megabytes_per_second = 20000;

  /// The built-in model, in which shared memory is faster by as much as its measured pace is above that of streaming,
  /// and another process's memory is as fast beside it as was measured.
  /// `crowded`: more ranks than cores, so that who is waited for may first have to get one.
  [[nodiscard]] static LinkModel of(const Pace& pace, bool crowded = false) noexcept;
  [[nodiscard]] double microseconds(const Traffic& traffic, const Problem& problem) const noexcept;

 private:
  /// What every algorithm takes on one rank, where it sends nothing: the call, and the copy of the data.
  [[nodiscard]] double alone_us(const Call& call) const noexcept;
};

}  // namespace chorus
