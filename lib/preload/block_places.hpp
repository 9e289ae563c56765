// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/handles.hpp"

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace chorus::preload {

/// The block of a rank as the arguments of a call say it.
struct GivenBlock {
  MPI_Count count = 0;
  MPI_Aint displacement = 0;  ///< in bytes
  MPI_Datatype type{};
};

/// Where the blocks of a buffer lie, one for each rank. Kept with a communicator: programs repeat their arrays, and
/// comparing takes less time than laying out.
class BlockPlaces {
 public:
  struct Place {
    MPI_Count count = 0;
    MPI_Aint displacement = 0;
    Type type;
  };

  /// As the v forms say it. Not valid where an argument is wrong, or a block is missing in `buffer`.
  template <class Count, class Displacement>
  Extent take(const void* buffer, const Count* counts, const Displacement* displacements, MPI_Datatype type,
              int ranks) {
    const Type element = type_of(type);
    if (!element.valid || counts == nullptr || displacements == nullptr) return {};
    auto stride = static_cast<MPI_Aint>(element.bytes);
    MPI_Aint lowest = 0;
    if (!element.plain) PMPI_Type_get_extent(type, &lowest, &stride);
    return take(
        buffer, ranks,
        [=](std::size_t rank) {
          return GivenBlock{counts[rank], displacements[rank] * stride, type};
        },
        [&](MPI_Datatype /*handle*/) { return element; });
  }
  /// As MPI_Alltoallw says it.
  template <class Count, class Displacement>
  Extent take(const void* buffer, const Count* counts, const Displacement* displacements, const MPI_Datatype* types,
              int ranks) {
    if (counts == nullptr || displacements == nullptr || types == nullptr) return {};
    return take(
        buffer, ranks,
        [=](std::size_t rank) {
          if (counts[rank] == 0) return GivenBlock();  // then programs pass no type
          return GivenBlock{counts[rank], displacements[rank], types[rank]};
        },
        type_of);
  }

  [[nodiscard]] const std::vector<Place>& all() const noexcept { return places_; }
  /// False where a block is of a type that the program has made.
  [[nodiscard]] bool plain() const noexcept { return plain_; }
  /// The bytes of each block, without gaps.
  [[nodiscard]] std::span<const std::size_t> counts() const noexcept { return counts_; }
  /// From the lowest block to each, in the buffer, and where they are packed.
  [[nodiscard]] std::span<const std::size_t> displacements() const noexcept { return displacements_; }
  [[nodiscard]] std::span<const std::size_t> packed_displacements() const noexcept { return packed_displacements_; }
  /// From the buffer's beginning to the lowest block.
  [[nodiscard]] MPI_Aint lowest() const noexcept { return lowest_; }
  /// From there to the end of the highest.
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] std::size_t packed_length() const noexcept { return extent_.bytes; }

 private:
  template <class Given, class TypeOf>
  Extent take(const void* buffer, int ranks, Given given, TypeOf type) {
    if (!are(ranks, given)) {
      places_.resize(static_cast<std::size_t>(ranks));
      for (std::size_t rank = 0; rank < places_.size(); ++rank) {
        const GivenBlock block = given(rank);
        places_[rank] = {block.count, block.displacement, block.count == 0 ? Type() : type(block.type)};
      }
      lay_out();
    }
    const bool nowhere = buffer == nullptr || buffer == MPI_IN_PLACE;
    return nowhere && is_one_missing(buffer) ? Extent() : extent_;
  }
  /// Whether they are those that were taken last. Handles of types that the program has made may be of others by now.
  template <class Given>
  [[nodiscard]] bool are(int ranks, Given given) const noexcept {
    if (!plain_ || places_.size() != static_cast<std::size_t>(ranks)) return false;
    bool same = true;
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      const GivenBlock block = given(rank);
      const Place& place = places_[rank];
      same = same && place.count == block.count && place.displacement == block.displacement &&
             (block.count == 0 || place.type.handle == block.type);
    }
    return same;
  }
  [[nodiscard]] bool is_one_missing(const void* buffer) const noexcept;
  void lay_out();

  std::vector<Place> places_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> displacements_;
  std::vector<std::size_t> packed_displacements_;
  MPI_Aint lowest_ = 0;
  std::size_t length_ = 0;
  Extent extent_;
  bool plain_ = false;
};

}  // namespace chorus::preload
