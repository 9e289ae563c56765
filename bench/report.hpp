// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measure.hpp"
#include "overlap_figures.hpp"
#include "peer.hpp"
#include "statistics.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace chorus::bench {

/// A peer's own collective, measured in turn with chorus.
struct Comparison {
  Quartiles peer_us;
  Estimate ratio;  ///< chorus over the peer
  Peer peer = Peer::mpi;
};

/// What was measured of one collective, algorithm and size.
struct Point {
  std::string collective;
  std::string algorithm;  ///< as asked for: a name or "auto"
  int ranks = 1;
  int nodes = 1;
  int ranks_per_node = 1;  ///< on the fullest
  std::size_t bytes = 0;
  std::string device = {};  ///< the kind of rank 0's, whose memory the buffers are of; empty: memory of the host
  bool applies = true;      ///< false: the algorithm cannot carry out this call; nothing below was measured
  bool valid = false;
  OsuLatency osu = {};  ///< not measured in a comparison
  Quartiles us = {};
  std::size_t iterations = 0;           ///< repetitions behind `us`
  std::size_t calls_per_iteration = 1;  ///< calls in one of them
  double busbw_mb_s = 0;                ///< 10^6 bytes/s over the busiest link, by the median
  std::optional<Comparison> comparison = {};
  std::optional<bool> chosen = {};      ///< of regret: whether the library would take `algorithm`
  std::optional<double> floor_us = {};  ///< of floor: the least that the machine allows
  std::optional<Overlap> overlap = {};  ///< of overlap: the other forms beside the blocking one
};

/// Which table is printed.
struct TableForm {
  std::string title;
  std::string algorithm;  ///< empty: none
  int ranks = 1;
  bool has_size = true;
  bool full = false;
  bool check = false;
  bool compare = false;
  bool crowded = false;     ///< ranks share processors
  Peer peer = Peer::mpi;    ///< of a comparison
  std::string device = {};  ///< as in Point
};

// The text form is that of the OSU benchmarks 7: comments with '#', then columns of fixed width. Each returns whole
// lines.

/// With three decimals.
[[nodiscard]] std::string precise(double number);

/// The comments above every table; `test` says what it shows, such as "Latency".
[[nodiscard]] std::string preamble(const TableForm& form, std::string_view test);
[[nodiscard]] std::string heading(const TableForm& form);
[[nodiscard]] std::string line(const TableForm& form, const Point& point);
/// The last line of a comparison; empty where there is nothing to compare.
[[nodiscard]] std::string summary(std::span<const Point> points);

/// One JSON object on one line.
[[nodiscard]] std::string json_line(const Point& point, const std::string& note = {});

}  // namespace chorus::bench
