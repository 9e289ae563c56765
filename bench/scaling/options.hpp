// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace chorus::bench {

/// What the command line of chorus-scaling asks for.
struct ScalingOptions {
  std::vector<std::string> collectives;
  std::vector<std::size_t> sizes;       ///< in bytes, as the benchmark's table counts them
  std::vector<std::string> algorithms;  ///< of chorus; "auto": its choice; "all": each that applies; "mpi": MPI's call
  double most_messages = 0;  ///< an algorithm of "all" that sends more, by all ranks, is left out; 0: none is
  bool check = false;        ///< look at the results, too
};

/// None where `text` was asked for (the help). Throws std::invalid_argument that says what is wrong.
[[nodiscard]] std::optional<ScalingOptions> parse_scaling_options(int argc, char** argv, std::string& text);

}  // namespace chorus::bench
