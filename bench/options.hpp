// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "buffer.hpp"
#include "computation.hpp"
#include "peer.hpp"
#include "sizes.hpp"
#include "table.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace chorus::bench {

/// What was asked for cannot be done: one line for the user, then exit code 2.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What is measured of each collective.
enum class Measurement {
  latency,    ///< how long it takes
  regret,     ///< how much longer by the algorithm that the library chooses than by the best
  floor,      ///< how near it comes to the least that the machine allows
  overlap,    ///< how much of it hides behind a computation
  strategies  ///< of no collective, but of the strategies: what they add
};

/// What the command line asks for.
struct Options {
  Measurement measurement = Measurement::latency;
  std::span<const Row> rows;  ///< the collectives to measure, one or all
  SizeRange sizes;
  std::optional<std::size_t> iterations;  ///< empty: as many as the OSU benchmarks, within a limit of time
  std::optional<std::size_t> warmup;      ///< empty: as many as the OSU benchmarks
  bool check = false;
  bool full = false;
  std::string algorithm = "auto";  ///< a registered name, "auto" or "all"
  std::optional<Peer> compare;     ///< who is measured in turn with chorus
  bool reproducible = false;
  std::size_t tests = 10;           ///< of overlap: calls of `test` in one computation
  Compute compute = Compute::busy;  ///< of overlap and strategies
  std::optional<int> replicas;      ///< of strategies, on each rank; empty: 2 on a single rank, else 1
  Memory memory = Memory::host;     ///< that of the buffers; registered: but for those of MPI's own calls
  std::string json_file;            ///< empty: none
  std::string note;                 ///< for the files: where and of what they are
  std::string plot_file;            ///< empty: none
};

/// Reads the command line. Empty where the user only asked for a text (help, the version or the list), which is then in
/// `text`. Throws   Refusal.
[[nodiscard]] std::optional<Options> parse_options(int argc, const char* const* argv, std::string& text);

}  // namespace chorus::bench
