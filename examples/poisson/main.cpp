// SPDX-License-Identifier: Apache-2.0
// The Poisson equation on the unit cube, -(u_aa + u_bb + u_cc) = f with u = 0 on the surface, by conjugate gradients.
// Every rank owns a box of the grid. Halos go by plain MPI, dot products through an allreduce of two numbers: the
// pattern of most implicit solvers, and one that feels the latency of a small allreduce in every iteration.
//
// The same solve is done with chorus::allreduce and with MPI_Allreduce in turn, and their times are shown side by side.
#include "../program.hpp"
#include "grid.hpp"
#include "solver.hpp"

#include <chorus/interop/mpi.hpp>

#include <algorithm>
#include <cmath>

namespace {

using chorus::ReduceOp;
using poisson::Field;
using poisson::Grid;
using poisson::Solution;
using Position = std::array<double, poisson::axes>;

struct Settings {
  int size = 64;
  int repeats = 5;
  poisson::Limits limits;
};

// u is a product of cubics, one per axis and all different. The seven-point Laplacian is exact for cubics, so nothing
// but the solver's own error stands between the computed values and u.
double p(double a) { return a * (1 - a); }
double q(double b) { return b * (1 - b * b); }
double r(double c) { return c * (1 - c) * (2 - c); }
double u(const Position& at) { return p(at[0]) * q(at[1]) * r(at[2]); }
double f(const Position& at) {
  const auto [a, b, c] = at;
  return 2 * q(b) * r(c) + 6 * b * p(a) * r(c) - (6 * c - 6) * p(a) * q(b);
}

Field right_hand_side(const Grid& grid) {
  Field values = grid.zeros();
  const double scale = grid.spacing() * grid.spacing();  // the solver's Laplacian is without the 1 / spacing^2
  grid.for_each_point([&](std::size_t index, const Position& at) { values[index] = scale * f(at); });
  return values;
}

double largest_error(const chorus::Communicator& comm, const Grid& grid, const Field& values) {
  double largest = 0;
  grid.for_each_point(
      [&](std::size_t index, const Position& at) { largest = std::max(largest, std::abs(values[index] - u(at))); });
  return chorus::allreduce(comm, largest, ReduceOp::max);
}

/// The times of one side over all its solves, each of the slowest rank.
class Times {
 public:
  void add(const chorus::Communicator& comm, const Solution& solution) {
    std::array<double, 3> seconds = {solution.seconds, solution.dot_product_seconds, solution.sum_seconds};
    chorus::allreduce(comm, seconds, ReduceOp::max);
    for (int row = 0; row < 3; ++row) milliseconds_[row].push_back(1e3 * seconds[row]);
  }
  [[nodiscard]] double median(int row) const {
    auto sorted = milliseconds_[row];
    std::sort(sorted.begin(), sorted.end());
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  }

 private:
  std::array<std::vector<double>, 3> milliseconds_;
};

void print_residuals(const std::vector<double>& residuals) {
  fmt::print("iteration   residual\n");
  const std::size_t last = residuals.size() - 1;
  for (std::size_t iteration = 0; iteration <= last; ++iteration) {
    if (iteration % 20 == 0 || iteration == last) fmt::print("{:9}  {:.3e}\n", iteration, residuals[iteration]);
  }
}

void print_times(const Times& chorus_times, const Times& mpi_times, int repeats) {
  fmt::print("\n{:22}{:>12}{:>15}{:>9}\n", "", "chorus", "MPI_Allreduce", "ratio");
  const std::array labels = {"solve, ms", "dot products, ms", "  of it allreduce, ms"};
  for (int row = 0; row < 3; ++row) {
    const double ours = chorus_times.median(row);
    const double theirs = mpi_times.median(row);
    fmt::print("{:22}{:12.3f}{:15.3f}{:9.3f}\n", labels[row], ours, theirs, ours / theirs);
  }
  fmt::print(
      "medians of {} solves of each kind in turn, on the slowest rank; allreduce includes the wait for other ranks\n",
      repeats);
}

/// The largest relative difference between two histories, or infinity where one is longer. What lies below `least`, to
/// which nobody iterates, is rounding errors: a difference is measured by no less.
double difference(const std::vector<double>& one, const std::vector<double>& other, double least) {
  if (one.size() != other.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    largest = std::max(largest, std::abs(one[i] - other[i]) / std::max(one[i], least));
  }
  return largest;
}

int solve_both_ways(const chorus::Communicator& world, const Settings& settings) {
  const Grid grid(MPI_COMM_WORLD, settings.size);
  const auto comm = chorus::from_mpi(grid.comm());
  const poisson::SumOverRanks through_chorus = [&](auto values) { chorus::allreduce(comm, values, ReduceOp::sum); };
  const poisson::SumOverRanks through_mpi = [&](auto values) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, grid.comm());
  };

  const Field known = right_hand_side(grid);
  Times chorus_times;
  Times mpi_times;
  Solution solution;
  double disagreement = 0;
  for (int repeat = 0; repeat < settings.repeats; ++repeat) {
    chorus::barrier(comm);
    solution = poisson::solve(grid, known, through_chorus, settings.limits);
    chorus_times.add(comm, solution);
    chorus::barrier(comm);
    const Solution reference = poisson::solve(grid, known, through_mpi, settings.limits);
    mpi_times.add(comm, reference);
    disagreement =
        std::max(disagreement, difference(solution.residuals, reference.residuals, settings.limits.residual));
  }

  const double error = largest_error(comm, grid, solution.values);
  const bool converged = solution.residuals.back() <= settings.limits.residual;
  const bool right = disagreement < 1e-3 && (!converged || error < 1e-6);
  if (world.rank() != 0) return right ? EXIT_SUCCESS : EXIT_FAILURE;

  fmt::print("{0} x {0} x {0} points on {1} x {2} x {3} ranks\n", settings.size, grid.ranks()[0], grid.ranks()[1],
             grid.ranks()[2]);
  print_residuals(solution.residuals);
  fmt::print("{} after {} iterations\nlargest error against the analytic solution {:.1e}\n",
             converged ? "converged" : "stopped", solution.residuals.size() - 1, error);
  print_times(chorus_times, mpi_times, settings.repeats);
  if (!right) {
    fmt::print(stderr, "poisson: wrong: error {:.2e}, and residuals with chorus and with MPI differ by {:.2e}\n", error,
               disagreement);
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run_program("poisson", [&](const chorus::Communicator& world) {
    CLI::App app("Solves a Poisson problem by conjugate gradients, its grid shared out over the ranks of mpirun.",
                 "poisson");
    Settings settings;
    app.add_option("--size", settings.size, "points along each side of the cube")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--iterations", settings.limits.iterations, "at most")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--repeats", settings.repeats, "solves of each kind")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    if (const auto exit_code = examples::parse(app, argc, argv, world)) return *exit_code;
    return solve_both_ways(world, settings);
  });
}
