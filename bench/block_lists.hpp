// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table.hpp"

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace chorus::bench {

/// Blocks for which each rank's length is given, though here all are of one, as chorus and as MPI take them.
struct BlockLists {
  std::vector<std::size_t> counts;
  /// Of no meaning where a buffer has more elements than an int counts.
  std::vector<int> mpi_counts, mpi_displacements;
};

/// Of `count` elements each. Made once for a size and kept, so that it takes no time.
[[nodiscard]] const BlockLists& blocks_of(const Call& call, std::size_t count);

/// The blocks of a call's buffers, one for each rank, by their places in memory.
struct PlacedBlocks {
  std::vector<std::span<const std::byte>> in;
  std::vector<std::span<std::byte>> out;
  std::vector<int> mpi_counts, mpi_displacements;  ///< in elements, and in bytes
  std::vector<MPI_Datatype> mpi_types;
};

/// Made once for the buffers and kept.
[[nodiscard]] const PlacedBlocks& placed_blocks_of(const Call& call);

}  // namespace chorus::bench
