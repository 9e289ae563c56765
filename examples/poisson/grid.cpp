// SPDX-License-Identifier: Apache-2.0
#include "grid.hpp"

#include "../program.hpp"

namespace poisson {

Grid::Grid(MPI_Comm parent, int points_per_side) : points_per_side_(points_per_side) {
  int ranks = 0;
  MPI_Comm_size(parent, &ranks);
  MPI_Dims_create(ranks, axes, ranks_.data());
  if (ranks_[0] > points_per_side) {
    throw examples::InputError(fmt::format("--size {} is too small: {} ranks need at least {} points per side",
                                           points_per_side, ranks, ranks_[0]));
  }
  constexpr Triple walls_not_periodic{};
  MPI_Cart_create(parent, axes, ranks_.data(), walls_not_periodic.data(), 1, &comm_);

  Triple periods{};
  Triple place{};
  MPI_Cart_get(comm_, axes, ranks_.data(), periods.data(), place.data());
  for (int axis = 0; axis < axes; ++axis) {
    offset_[axis] = points_per_side * place[axis] / ranks_[axis];
    extent_[axis] = points_per_side * (place[axis] + 1) / ranks_[axis] - offset_[axis];
  }
  for (int axis = 0; axis < axes; ++axis) {
    Face& lower = faces_[2 * axis];
    Face& upper = faces_[2 * axis + 1];
    MPI_Cart_shift(comm_, axis, 1, &lower.neighbour, &upper.neighbour);
    lower.halo = layer(axis, 0);
    lower.points = layer(axis, 1);
    upper.points = layer(axis, extent_[axis]);
    upper.halo = layer(axis, extent_[axis] + 1);
  }
}

Grid::~Grid() {
  for (Face& face : faces_) {
    MPI_Type_free(&face.points);
    MPI_Type_free(&face.halo);
  }
  MPI_Comm_free(&comm_);
}

MPI_Datatype Grid::layer(int axis, int position) const {
  const Triple whole = {extent_[0] + 2, extent_[1] + 2, extent_[2] + 2};
  Triple part = extent_;
  Triple start = {1, 1, 1};
  part[axis] = 1;
  start[axis] = position;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(axes, whole.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

Field Grid::zeros() const { return Field(static_cast<std::size_t>((extent_[0] + 2) * stride(0)), 0.0); }

void Grid::exchange_halo(Field& field) const {
  std::array<MPI_Request, 4 * axes> requests;
  int started = 0;
  for (int side = 0; side < 2 * axes; ++side) {
    // What leaves through a lower face comes in through an upper one: the tag is the side it came in by.
    const Face& face = faces_[side];
    const int opposite = side ^ 1;
    MPI_Irecv(field.data(), 1, face.halo, face.neighbour, side, comm_, &requests[started++]);
    MPI_Isend(field.data(), 1, face.points, face.neighbour, opposite, comm_, &requests[started++]);
  }
  MPI_Waitall(started, requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace poisson
