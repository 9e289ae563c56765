// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/staging.hpp"

#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>

#include <span>
#include <vector>

namespace chorus::preload {

/// The blocks of a buffer, one for each of `ranks`, as MPI's arguments say.
template <class Count, class Displacement>
[[nodiscard]] std::vector<Block> blocks_of(const void* buffer, const Count* counts, const Displacement* displacements,
                                           MPI_Datatype type, int ranks) {
  MPI_Aint lowest = 0;
  MPI_Aint stride = 0;
  PMPI_Type_get_extent(type, &lowest, &stride);
  std::vector<Block> blocks;
  blocks.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const std::byte* const place = static_cast<const std::byte*>(buffer) + displacements[rank] * stride;
    blocks.push_back(block_of(place, counts[rank], type));
  }
  return blocks;
}

/// Blocks of different lengths, one for each rank, on their way through collectives that move bytes: where they lie
/// where all types are basic, and packed where not, or where they are to be `apart` from all other memory.
class RankBlocks {
 public:
  RankBlocks(std::vector<Block> blocks, MPI_Comm comm, bool apart = false);

  /// The bytes of each rank's block, for the collective.
  [[nodiscard]] std::span<const std::span<std::byte>> spans() const noexcept { return spans_; }
  /// All memory from the first of them to the last.
  [[nodiscard]] std::span<std::byte> range() const noexcept;
  /// Packs a block, or all, for the collective to read.
  void take_in(int rank) const;
  void take_in() const;
  /// Puts a block, or all, that the collective has written where it belongs.
  void deliver(int rank) const;
  void deliver() const;
  /// Puts `block` where the collective expects that of `rank`. Throws where it is not as long.
  void put(int rank, const Block& block) const;
  /// Copies that of `rank` to `block`. Throws where it is not as long.
  void get(int rank, const Block& block) const;

 private:
  [[nodiscard]] std::byte* bytes_of(int rank, const Block& block) const;

  std::vector<Block> blocks_;
  MPI_Comm comm_;
  std::unique_ptr<std::byte[]> packed_;
  std::vector<std::span<std::byte>> spans_;
};

/// `blocks`, to be sent, apart from where those received in `out` may be written.
[[nodiscard]] RankBlocks apart_from(const RankBlocks& out, std::vector<Block> blocks, MPI_Comm comm);

/// An alltoallv and an alltoallw of such blocks; in place where both are the same.
void exchange_in_buffers(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out);
void exchange(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out);

/// Those blocks in one buffer, which begins with the lowest of them.
class CommonBuffer {
 public:
  explicit CommonBuffer(const RankBlocks& blocks);
  /// For a collective in place.
  [[nodiscard]] const detail::Buffers& buffers() const noexcept { return buffers_; }
  [[nodiscard]] BlockLayout layout() const { return {counts_, displacements_}; }

 private:
  detail::Buffers buffers_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> displacements_;
};

}  // namespace chorus::preload
