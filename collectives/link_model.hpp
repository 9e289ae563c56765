// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "device/device_pace.hpp"
#include "transport/network_pace.hpp"
#include "transport/pace.hpp"

#include <limits>
#include <optional>

namespace chorus {

/// What one level of the machine takes.
struct Link {
  double latency_us = 0;            ///< of one message or round, in microseconds
  double megabytes_per_second = 0;  ///< 10^6 bytes per second

  [[nodiscard]] double microseconds(double messages, double bytes) const noexcept {
    return messages * latency_us + bytes / megabytes_per_second;  // bytes over megabytes a second are microseconds
  }
  friend bool operator==(const Link&, const Link&) = default;
};

/// What messages take. MPI sends short ones at once, and others in some other way from a length on.
struct MessageLink {
  double latency_us = 0;
  double megabytes_per_second = 0;
  double long_from = std::numeric_limits<double>::infinity();  ///< bytes of a message from which on it is long
  double long_latency_us = 0;
  double long_megabytes_per_second = 0;

  /// What messages of so many bytes take.
  [[nodiscard]] Link of(double bytes) const noexcept {
    return bytes < long_from ? Link{latency_us, megabytes_per_second}
                             : Link{long_latency_us, long_megabytes_per_second};
  }
  friend bool operator==(const MessageLink&, const MessageLink&) = default;
};

/// The machine in numbers: turns Traffic into time. Written in a tuning file under these names, but for long_shared_*;
/// what is built in was measured on two cores of a server of 2023 (docs/performance.md) and is right in its
/// proportions.
struct LinkModel {
  Link shared{.latency_us = 0.1,
              .megabytes_per_second = 16000};        ///< rounds, and bytes written and read, in shared memory
  double shared_alone_megabytes_per_second = 16000;  ///< the same where one rank alone moves data in a node
  /// The same where each moves so much that the caches of a core do not hold what its ranks do; only where they share
  /// it.
  double long_shared_megabytes_per_second = 16000;
  double long_shared_from = std::numeric_limits<double>::infinity();  ///< bytes
  double shared_peer_us = 0.05;                                       ///< a line read, for each rank
  /// What a package takes in from the others, by all its ranks together. Not measured: the links between packages of
  /// servers of 2020 to 2024 have 30 to 60 GB/s each way that programs reach.
  double far_megabytes_per_second = 40000;
  double task_us = 0.1;                                      ///< a round driven as a coroutine, beyond one that is not
  double task_peer_us = 0.025;                               ///< the same, for each rank of the node
  Link read{.latency_us = 2, .megabytes_per_second = 9000};  ///< of another process's memory
  double long_read_megabytes_per_second = 9000;              ///< the same, of blocks of 256 KiB and more
  double readers_at_once = 1;                                ///< ranks that read one process's memory side by side
  double readers_of_a_core = 1;                              ///< as many times as long it takes where all ranks read
  MessageLink node{.latency_us = 2, .megabytes_per_second = 2500};  ///< messages inside a node
  /// Between nodes, over distances that double, where one rank of each sends.
  MessageLink network{.latency_us = 2, .megabytes_per_second = 5000};
  /// The same where all ranks of a node send at a time: what each of them waits, and what they send together. None: as
  /// where one sends.
  std::optional<MessageLink> network_by_all = {};
  double to_next_gain = 1;       ///< as many times as much goes to the next nodes as over distances that double
  double further_message = 0.6;  ///< of a latency, for a message between nodes beside another one under way
  double reduce_megabytes_per_second = 20000;
  /// Copies between a device's memory and the host's, there and back, as they are where a rank has a device of its own:
  /// a copy takes some microseconds to start, and PCI Express of the fourth generation has 25 GB/s.
  Link device{.latency_us = 20, .megabytes_per_second = 25000};
  /// Steps between devices, and what they write and read there: a kernel starts in less, and links between devices
  /// have some hundred GB/s.
  Link windows{.latency_us = 8, .megabytes_per_second = 200000};

  /// The built-in model, in which what was measured of shared memory, of reading another process's memory, of messages
  /// between nodes and of devices takes the place of what is built in.
  /// `crowded`: more ranks than cores, so that who is waited for may first have to get one.
  [[nodiscard]] static LinkModel of(const Pace& pace, bool crowded = false, const NetworkPace& between = {},
                                    const DevicePace& devices = {}) noexcept;
  /// More ranks than cores: what one of them does takes the others' time.
  [[nodiscard]] bool shares_cores() const noexcept { return readers_of_a_core > 1; }
  /// Messages between nodes as they were measured.
  void take(const NetworkPace& between) noexcept;
  [[nodiscard]] double microseconds(const Traffic& traffic, const Problem& problem) const noexcept;
  /// `traffic` in shared memory where calls follow one another: on cores of their own those who give write the next
  /// data while the last is being read, and what takes less time of what all do and what one does alone is hidden.
  [[nodiscard]] Traffic overlapped(Traffic traffic) const noexcept;
  /// What each of so many ranks of a node that send at a time sends to other nodes while a message is on its way.
  [[nodiscard]] double bytes_in_a_latency(int senders) const noexcept;
  friend bool operator==(const LinkModel&, const LinkModel&) = default;

 private:
  /// What each of the ranks that send takes for a message of so many bytes.
  [[nodiscard]] Link message_link(const Traffic& traffic, const Problem& problem, double bytes) const noexcept;
  /// The same, between nodes, each of which has so many of them.
  [[nodiscard]] Link network_link(int senders, double bytes) const noexcept;
  /// What messages inside a node do not take that are under way beside others, and what messages between nodes do not.
  [[nodiscard]] double hidden_inside_us(const LevelTraffic& messages, const LevelTraffic& together) const noexcept;
  [[nodiscard]] double hidden_us(const Traffic& traffic, const Problem& problem) const noexcept;
  /// What every algorithm takes on one rank, where it sends nothing: the call, and the copy of the data.
  [[nodiscard]] double alone_us(const Call& call) const noexcept;
};

/// `links`, or the built-in model where that is null.
[[nodiscard]] const LinkModel& or_built_in(const LinkModel* links) noexcept;
/// What the phases of an algorithm are chosen by: Problem::links, or the built-in model.
[[nodiscard]] inline const LinkModel& links_of(const Problem& problem) noexcept { return or_built_in(problem.links); }

/// Traffic::arrivals in rounds whose givers wait for nobody: where ranks share cores these are at later calls when they
/// are waited for.
[[nodiscard]] inline double arrivals_of_givers(const Problem& problem, double rounds) noexcept {
  return rounds * (links_of(problem).shares_cores() ? 1 : problem.largest_node);
}

}  // namespace chorus
