// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "grid.hpp"

#include <functional>
#include <span>
#include <vector>

namespace poisson {

/// Replaces each value by its sum over all ranks.
using SumOverRanks = std::function<void(std::span<double>)>;

/// When to stop.
struct Limits {
  int iterations = 500;
  double residual = 1e-10;  ///< relative to the right-hand side
};

/// A solution, how it was approached, and the seconds this rank spent.
struct Solution {
  Field values;
  std::vector<double> residuals;   ///< relative to the right-hand side, after 0, 1, 2, ... iterations
  double seconds = 0;              ///< all in all
  double dot_product_seconds = 0;  ///< in dot products, the sums over ranks among them
  double sum_seconds = 0;          ///< in the sums over ranks
};

/// Solves A x = right_hand_side by conjugate gradients from x = 0, where A is the seven-point Laplacian: six times a
/// point less its six neighbours. Called by every rank of `grid`.
[[nodiscard]] Solution solve(const Grid& grid, const Field& right_hand_side, const SumOverRanks& sum_over_ranks,
                             const Limits& limits);

}  // namespace poisson
