// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/per_rank.hpp"
#include "preload/staging.hpp"

#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace chorus::preload {

/// The block of a rank in a buffer, as MPI's arguments say: a function of the rank.
template <class Count, class Displacement>
[[nodiscard]] auto blocks_of(const void* buffer, const Count* counts, const Displacement* displacements,
                             MPI_Datatype type) {
  const Type element = type_of(type);
  auto stride = static_cast<MPI_Aint>(element.bytes);
  MPI_Aint lowest = 0;
  if (!element.plain) PMPI_Type_get_extent(type, &lowest, &stride);
  auto* const begin = static_cast<std::byte*>(const_cast<void*>(buffer));
  return [=](std::size_t rank) { return Block{begin + displacements[rank] * stride, counts[rank], element}; };
}

/// Blocks of different lengths, one for each rank, on their way through collectives that move bytes: where they lie
/// where all types are basic, and packed where not.
class RankBlocks {
 public:
  /// `of(rank)`: the block of each of `ranks`. Blocks to be sent are packed, too, where they have memory in common with
  /// those that are `received`, which are written meanwhile.
  template <class Of>
  RankBlocks(int ranks, Of of, MPI_Comm comm, const RankBlocks* received = nullptr)
      : comm_(comm), blocks_(static_cast<std::size_t>(ranks), [&](std::size_t rank) { return noted(of(rank)); }) {
    if (staged_ || (received != nullptr && overlap(begin_, length(), received->begin_, received->length())))
      set_apart();
  }

  [[nodiscard]] std::size_t ranks() const noexcept { return blocks_.size(); }
  /// The bytes of each rank's block, for the collective.
  [[nodiscard]] std::span<std::byte> of(std::size_t rank) const noexcept {
    return {packed_ ? packed_places_[rank] : static_cast<std::byte*>(blocks_[rank].place), blocks_[rank].bytes()};
  }
  /// All memory from the first of them to the last.
  [[nodiscard]] std::span<std::byte> range() const noexcept { return {begin_, length()}; }
  /// Packs a block, or all, for the collective to read.
  void take_in(int rank) const;
  void take_in() const;
  /// Puts what the collective has written where it belongs.
  void deliver() const;
  /// Puts `block` where the collective expects that of `rank`. Throws where it is not as long.
  void put(int rank, const Block& block) const;
  /// Copies that of `rank` to `block`. Throws where it is not as long.
  void get(int rank, const Block& block) const;

 private:
  [[nodiscard]] Block noted(Block block) noexcept {
    const std::size_t bytes = block.bytes();
    if (bytes == 0) return block;
    auto* const begin = static_cast<std::byte*>(block.place);
    if (begin_ == nullptr || std::less<>()(begin, begin_)) begin_ = begin;
    if (end_ == nullptr || std::less<>()(end_, begin + bytes)) end_ = begin + bytes;
    staged_ = staged_ || is_staged(block);
    return block;
  }
  [[nodiscard]] std::size_t length() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
  /// Gives them other memory, for the collective.
  void set_apart();
  [[nodiscard]] std::byte* bytes_of(int rank, const Block& block) const;

  MPI_Comm comm_;
  bool staged_ = false;
  std::byte* begin_ = nullptr;
  std::byte* end_ = nullptr;
  PerRank<Block> blocks_;  // as the program has them
  std::unique_ptr<std::byte[]> packed_;
  std::vector<std::byte*> packed_places_;
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
  detail::Buffers buffers_;
  PerRank<std::size_t> counts_;
  PerRank<std::size_t> displacements_;
};

}  // namespace chorus::preload
