// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/per_rank.hpp"
#include "preload/staging.hpp"

#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace chorus::preload {

/// The block of a rank in a buffer, as MPI's arguments say: a function of the rank.
template <class Count, class Displacement>
[[nodiscard]] auto blocks_of(const void* buffer, const Count* counts, const Displacement* displacements,
                             MPI_Datatype type) {
  MPI_Aint lowest = 0;
  MPI_Aint stride = 0;
  PMPI_Type_get_extent(type, &lowest, &stride);
  return [=](std::size_t rank) {
    const std::byte* const place = static_cast<const std::byte*>(buffer) + displacements[rank] * stride;
    return block_of(place, counts[rank], type);
  };
}

/// Blocks of different lengths, one for each rank, on their way through collectives that move bytes: where they lie
/// where all types are basic, and packed where not.
class RankBlocks {
 public:
  /// `of(rank)`: the block of each of `ranks`. Blocks to be sent are packed, too, where they have memory in common with
  /// those that are `received`, which are written meanwhile.
  template <class Of>
  RankBlocks(int ranks, Of of, MPI_Comm comm, const RankBlocks* received = nullptr)
      : blocks_(static_cast<std::size_t>(ranks), of),
        comm_(comm),
        packed_(room_to_pack(received)),
        spans_(blocks_.size(), [this, next = packed_.get()](std::size_t rank) mutable {
          const Block& block = blocks_[rank];
          std::byte* const place = next != nullptr ? next : static_cast<std::byte*>(block.place);
          if (next != nullptr) next += block.bytes;
          return std::span(place, block.bytes);
        }) {}

  /// The bytes of each rank's block, for the collective.
  [[nodiscard]] std::span<const std::span<std::byte>> spans() const noexcept { return spans_.all(); }
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
  /// Null where they need not be packed.
  [[nodiscard]] std::unique_ptr<std::byte[]> room_to_pack(const RankBlocks* received) const;
  [[nodiscard]] std::byte* bytes_of(int rank, const Block& block) const;

  PerRank<Block> blocks_;
  MPI_Comm comm_;
  std::unique_ptr<std::byte[]> packed_;
  PerRank<std::span<std::byte>> spans_;
};

/// An alltoallv and an alltoallw of such blocks; in place where both are the same.
void exchange_in_buffers(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out);
void exchange(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out);

/// Those blocks in one buffer, which begins with the lowest of them.
class CommonBuffer {
 public:
  explicit CommonBuffer(const RankBlocks& blocks);
  /// For a collective in place.
  [[nodiscard]] const detail::Buffers& buffers() const noexcept { return buffers_; }
  [[nodiscard]] BlockLayout layout() const { return {counts_.all(), displacements_.all()}; }

 private:
  std::span<std::byte> range_;
  detail::Buffers buffers_;
  PerRank<std::size_t> counts_;
  PerRank<std::size_t> displacements_;
};

}  // namespace chorus::preload
