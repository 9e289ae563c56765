// SPDX-License-Identifier: Apache-2.0
#include "block_lists.hpp"

#include <map>
#include <span>

namespace chorus::bench {

const BlockLists& blocks_of(const Call& call, std::size_t count) {
  static BlockLists blocks;
  const auto ranks = static_cast<std::size_t>(call.world.size());
  if (blocks.counts.empty() || blocks.counts[0] != count) {
    blocks = {};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      blocks.counts.push_back(count);
      blocks.mpi_counts.push_back(static_cast<int>(count));
      blocks.mpi_displacements.push_back(static_cast<int>(rank * count));
    }
  }
  return blocks;
}

const PlacedBlocks& placed_blocks_of(const Call& call) {
  struct Placed {
    std::span<const float> in;
    std::span<float> out;
    PlacedBlocks blocks;
  };
  static std::map<const float*, Placed> all;  // calls that take turns have buffers of their own
  auto& [in, out, blocks] = all[call.in.data()];
  if (in.size() == call.in.size() && out.data() == call.out.data()) return blocks;
  in = call.in;
  out = call.out;
  blocks = {};
  const auto ranks = static_cast<std::size_t>(call.world.size());
  const std::size_t count = in.size() / ranks;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    blocks.in.push_back(std::as_bytes(in.subspan(rank * count, count)));
    blocks.out.push_back(std::as_writable_bytes(out.subspan(rank * count, count)));
    blocks.mpi_counts.push_back(static_cast<int>(count));
    blocks.mpi_displacements.push_back(static_cast<int>(rank * count * sizeof(float)));
    blocks.mpi_types.push_back(MPI_FLOAT);
  }
  return blocks;
}

}  // namespace chorus::bench
