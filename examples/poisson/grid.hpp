// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

namespace poisson {

/// The axes in the order of memory: points that are neighbours along the last one lie side by side.
inline constexpr int axes = 3;
using Triple = std::array<int, axes>;

/// The values on this rank's points and on one layer of halo round them.
using Field = std::vector<double>;

/// The inner points of the unit cube, a box of them on each rank. The cube's surface lies in the halo and stays zero.
class Grid {
 public:
  /// Called by every rank of `parent`.
  /// Throws   examples::InputError on every rank where there are more ranks along an axis than points.
  Grid(MPI_Comm parent, int points_per_side);
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  /// The ranks, in the order of their boxes.
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// The number of ranks along each axis.
  [[nodiscard]] const Triple& ranks() const noexcept { return ranks_; }
  /// The distance of two points.
  [[nodiscard]] double spacing() const noexcept { return 1.0 / (points_per_side_ + 1); }
  /// How far the next point along `axis` is in a Field.
  [[nodiscard]] std::ptrdiff_t stride(int axis) const noexcept {
    return axis == 2 ? 1 : axis == 1 ? extent_[2] + 2 : (extent_[1] + 2) * (extent_[2] + 2);
  }

  /// A field of zeros.
  [[nodiscard]] Field zeros() const;
  /// Fills the halo of `field` with the points of the neighbours. Called by every rank.
  void exchange_halo(Field& field) const;

  /// Calls `row(index, count)` for every run of points that lie side by side in a Field.
  template <class Row>
  void for_each_row(const Row& row) const {
    for (int i = 1; i <= extent_[0]; ++i)
      for (int j = 1; j <= extent_[1]; ++j)
        row(static_cast<std::size_t>(i * stride(0) + j * stride(1) + 1), static_cast<std::size_t>(extent_[2]));
  }
  /// Calls `point(index, {a, b, c})` for every point, with its coordinates in the cube.
  template <class Point>
  void for_each_point(const Point& point) const {
    for (int i = 1; i <= extent_[0]; ++i)
      for (int j = 1; j <= extent_[1]; ++j)
        for (int k = 1; k <= extent_[2]; ++k)
          point(static_cast<std::size_t>(i * stride(0) + j * stride(1) + k),
                std::array<double, axes>{(offset_[0] + i) * spacing(), (offset_[1] + j) * spacing(),
                                         (offset_[2] + k) * spacing()});
  }

 private:
  /// One side of the box: the points that its neighbour wants, and the halo that it fills.
  struct Face {
    int neighbour = MPI_PROC_NULL;
    MPI_Datatype points = MPI_DATATYPE_NULL;
    MPI_Datatype halo = MPI_DATATYPE_NULL;
  };

  [[nodiscard]] MPI_Datatype layer(int axis, int position) const;

  int points_per_side_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Triple ranks_{};
  Triple extent_{};                   // points of this rank
  Triple offset_{};                   // points before them
  std::array<Face, 2 * axes> faces_;  // two per axis, the one towards zero first
};

}  // namespace poisson
