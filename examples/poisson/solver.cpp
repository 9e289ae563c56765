// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients in the form of Chronopoulos and Gear (J. Comput. Appl. Math. 25(2), 1989). The textbook's form
// needs two dot products per iteration, one after the other; this one computes both on the residual r and w = A r, so
// that they travel in one allreduce of two numbers. Its price is one more vector, s = A p, kept by recurrence.
#include "solver.hpp"

#include "../program.hpp"

#include <cmath>

namespace poisson {
namespace {

using examples::Stopwatch;

struct DotProducts {
  double rr = 0;
  double rw = 0;
};

/// out = A field; the halo of `field` is filled on the way.
void apply_laplacian(const Grid& grid, Field& field, Field& out) {
  grid.exchange_halo(field);
  const auto plane = grid.stride(0);
  const auto line = grid.stride(1);
  grid.for_each_row([&](std::size_t index, std::size_t count) {
    const double* const f = &field[index];
    double* const to = &out[index];
    for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(count); ++i) {
      to[i] = 6 * f[i] - f[i - plane] - f[i + plane] - f[i - line] - f[i + line] - f[i - 1] - f[i + 1];
    }
  });
}

DotProducts local_dot_products(const Grid& grid, const Field& r, const Field& w) {
  DotProducts dot;
  grid.for_each_row([&](std::size_t index, std::size_t count) {
    for (std::size_t i = index; i < index + count; ++i) {
      dot.rr += r[i] * r[i];
      dot.rw += r[i] * w[i];
    }
  });
  return dot;
}

/// to = a x + b to
void combine(const Grid& grid, double a, const Field& x, double b, Field& to) {
  grid.for_each_row([&](std::size_t index, std::size_t count) {
    for (std::size_t i = index; i < index + count; ++i) to[i] = a * x[i] + b * to[i];
  });
}

}  // namespace

Solution solve(const Grid& grid, const Field& right_hand_side, const SumOverRanks& sum_over_ranks,
               const Limits& limits) {
  Solution solution{.values = grid.zeros(), .residuals = {}};
  Field r = right_hand_side;
  Field w = grid.zeros();
  Field p = grid.zeros();
  Field s = grid.zeros();
  Stopwatch total;
  Stopwatch dot_products;
  Stopwatch sums;

  total([&] {
    double rr_before = 0;
    double rr_first = 0;
    double alpha = 0;
    for (int iteration = 0;; ++iteration) {
      apply_laplacian(grid, r, w);
      DotProducts dot;
      dot_products([&] {
        dot = local_dot_products(grid, r, w);
        std::array<double, 2> both = {dot.rr, dot.rw};
        sums([&] { sum_over_ranks(both); });
        dot = {both[0], both[1]};
      });
      if (iteration == 0) rr_first = dot.rr;
      solution.residuals.push_back(std::sqrt(dot.rr / rr_first));
      if (solution.residuals.back() <= limits.residual || iteration == limits.iterations) break;

      const double beta = iteration == 0 ? 0 : dot.rr / rr_before;
      alpha = dot.rr / (iteration == 0 ? dot.rw : dot.rw - beta / alpha * dot.rr);
      rr_before = dot.rr;
      combine(grid, 1, r, beta, p);
      combine(grid, 1, w, beta, s);
      combine(grid, alpha, p, 1, solution.values);
      combine(grid, -alpha, s, 1, r);
    }
  });
  solution.seconds = total.seconds();
  solution.dot_product_seconds = dot_products.seconds();
  solution.sum_seconds = sums.seconds();
  return solution;
}

}  // namespace poisson
