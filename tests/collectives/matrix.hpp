// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/names.hpp"
#include "worlds/worlds.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

// Every algorithm of a collective x worlds x rank counts, and what is checked for each.
namespace chorus::test {

/// Short slots, so that a few thousand elements take many rounds.
inline constexpr std::size_t slot_bytes = 1024;

[[nodiscard]] std::vector<Collective> every_collective();

struct MatrixCase {
  const Algorithm* algorithm = nullptr;
  WorldKind kind = WorldKind::simulated;
  int ranks = 1;
};
/// Each algorithm on 1 to 8 ranks of both worlds, and on 12, 13, 16 and 17 simulated ones.
[[nodiscard]] std::vector<MatrixCase> matrix_of(Collective collective);
/// "ring_simulated_5".
[[nodiscard]] std::string name_of(const testing::TestParamInfo<MatrixCase>& info);
void PrintTo(const MatrixCase& matrix_case, std::ostream* stream);
/// "scan_4"
template <class Named>
[[nodiscard]] std::string name_and_ranks(const testing::TestParamInfo<std::tuple<Named, int>>& info) {
  const auto& [named, ranks] = info.param;
  return std::string(name(named)) + "_" + std::to_string(ranks);
}

/// 0, 1, p-1, p, p+1, some odd ones, and a slot more or less one element.
[[nodiscard]] std::vector<std::size_t> counts_for(int ranks, DataType type);
/// First, middle and last; only 0 where `collective` has no root.
[[nodiscard]] std::vector<int> roots_for(Collective collective, int ranks);
/// The operations that `type` has; only `sum`, which then means nothing, where `collective` does not reduce.
[[nodiscard]] std::vector<ReduceOp> ops_for(Collective collective, DataType type);

/// True where it applies only to several nodes: to those that share memory by themselves it sends nothing.
[[nodiscard]] bool needs_nodes(const Algorithm& algorithm, Collective collective);

/// As a coroutine or, with `now`, without one.
Task<> carry_out_by(const Algorithm& algorithm, bool now, Transport& transport, const Arguments& arguments);

/// Carries out, for float32 and sum: every count, root and layout, in place and not, at changing offsets.
void check_counts(Collective collective, const MatrixCase& matrix_case);
/// Every type and operation, at a few counts.
void check_types(Collective collective, const MatrixCase& matrix_case);
/// Many orders of events, with a slow rank; skipped but for few simulated ranks.
void check_seeds(Collective collective, const MatrixCase& matrix_case);
/// Holds the `traffic` of a simulated algorithm to what the busiest rank starts and sends where no memory is shared,
/// also of a vector of several segments; of one for several nodes to what it does between nodes of two ranks. On other
/// layouts it is no more than that, and what goes inside nodes by messages is held to it, too. The blocks of
/// reduce_scatter and allgatherv are equally long.
void check_traffic(Collective collective, const MatrixCase& matrix_case);

}  // namespace chorus::test
