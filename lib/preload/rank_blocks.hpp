// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/block_places.hpp"
#include "preload/staging.hpp"

#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace chorus::preload {

/// Blocks of different lengths, one for each rank, on their way through collectives that move bytes: where they lie
/// where all types are basic, and packed where not.
class RankBlocks {
 public:
  /// Those at `places` of `buffer`, which outlive it. Blocks to be sent are packed, too, where they have memory in
  /// common with those that are `received`, which are written meanwhile.
  RankBlocks(const BlockPlaces& places, const void* buffer, MPI_Comm comm, const RankBlocks* received = nullptr)
      : places_(places),
        buffer_(static_cast<std::byte*>(const_cast<void*>(buffer))),
        comm_(comm),
        range_(buffer_ + places.lowest(), places.length()),
        displacements_(places.displacements()) {
    if (!places.plain() || (received != nullptr && overlaps(*received)) || is_on_device()) set_apart();
  }

  [[nodiscard]] std::size_t ranks() const noexcept { return displacements_.size(); }
  /// The bytes of each rank's block, for the collective.
  [[nodiscard]] std::span<std::byte> of(std::size_t rank) const noexcept {
    return {range_.data() + displacements_[rank], places_.counts()[rank]};
  }
  /// All of them in one buffer, which begins with the lowest: for a collective in place.
  [[nodiscard]] detail::Buffers buffers() const noexcept {
    return bytes(range_.data(), range_.size(), range_.data(), range_.size());
  }
  [[nodiscard]] BlockLayout layout() const noexcept { return {places_.counts(), displacements_}; }
  /// Packs a block, or all, for the collective to read.
  void take_in(int rank) const {
    if (packed_) put(rank, block(static_cast<std::size_t>(rank)));
  }
  void take_in() const;
  /// Puts what the collective has written where it belongs.
  void deliver() const;
  /// Puts `block` where the collective expects that of `rank`. Throws where it is not as long.
  void put(int rank, const Block& block) const;
  /// Copies that of `rank` to `block`. Throws where it is not as long.
  void get(int rank, const Block& block) const;

 private:
  /// As the program has it.
  [[nodiscard]] Block block(std::size_t rank) const noexcept {
    const BlockPlaces::Place& place = places_.all()[rank];
    return {buffer_ + place.displacement, place.count, place.type};
  }
  [[nodiscard]] bool overlaps(const RankBlocks& other) const noexcept {
    return overlap(range_.data(), range_.size(), other.range_.data(), other.range_.size());
  }
  /// Where one of them is on a device.
  [[nodiscard]] bool is_on_device() const noexcept;
  /// Gives them other memory, for the collective.
  void set_apart();
  [[nodiscard]] std::byte* bytes_of(int rank, const Block& block) const;

  const BlockPlaces& places_;
  std::byte* buffer_;
  MPI_Comm comm_;
  std::span<std::byte> range_;  // for the collective
  std::span<const std::size_t> displacements_;
  std::unique_ptr<std::byte[]> packed_;
};

/// An alltoallv and an alltoallw of such blocks; in place where both are the same.
void exchange_in_buffers(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out);
void exchange(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out);

}  // namespace chorus::preload
