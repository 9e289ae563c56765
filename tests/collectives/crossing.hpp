// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What crosses the links inside a node: bytes that all ranks together read of what others have written, by the level of
// NodeShape that stands between reader and writer. The last is the outermost: between packages.
namespace chorus::test {

[[nodiscard]] const Algorithm& algorithm_named(Collective collective, std::string_view name);

/// The problem of `collective` over a vector of `bytes` in all (of all blocks, where it has one for each rank), on a
/// node as hwloc's synthetic `machine`, with a rank on each core.
[[nodiscard]] Problem problem_on(const std::string& machine, Collective collective, std::size_t bytes);

struct Crossing {
  std::vector<double> bytes;  ///< by level
  double busiest = 0;         ///< of the last, what the outermost part takes in that takes in most
};
/// Carries `problem` out by `algorithm` there and counts; throws where ranks do not get through.
[[nodiscard]] Crossing counted(const Algorithm& algorithm, const std::string& machine, const Problem& problem);

/// Where each rank reads what it needs of all others straight from them: `slot` for short data, else `shared`.
[[nodiscard]] Crossing flat(const Problem& problem);

/// What no algorithm can do without: into each part what it lacks, once. For what is reduced: out of each part once.
[[nodiscard]] Crossing least(const Problem& problem);

}  // namespace chorus::test
