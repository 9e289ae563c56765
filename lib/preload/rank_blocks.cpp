// SPDX-License-Identifier: Apache-2.0
#include "preload/rank_blocks.hpp"

#include "preload/per_rank.hpp"

#include <chorus/alltoallv.hpp>
#include <chorus/alltoallw.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace chorus::preload {

bool RankBlocks::is_on_device() const noexcept {
  if (!process_uses_cuda.load(std::memory_order_relaxed)) return false;
  return std::ranges::any_of(places_.all(), [&](const BlockPlaces::Place& place) {
    return place.count > 0 && on_device(buffer_ + place.displacement);
  });
}

void RankBlocks::set_apart() {
  packed_ = std::make_unique_for_overwrite<std::byte[]>(places_.packed_length());
  range_ = {packed_.get(), places_.packed_length()};
  displacements_ = places_.packed_displacements();
}

void RankBlocks::take_in() const {
  if (!packed_) return;
  for (std::size_t rank = 0; rank < ranks(); ++rank) put(static_cast<int>(rank), block(rank));
}

void RankBlocks::deliver() const {
  if (!packed_) return;
  for (std::size_t rank = 0; rank < ranks(); ++rank) get(static_cast<int>(rank), block(rank));
}

std::byte* RankBlocks::bytes_of(int rank, const Block& block) const {
  const std::span<std::byte> bytes = of(static_cast<std::size_t>(rank));
  if (bytes.size() == block.bytes()) return bytes.data();
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("what rank {} sends and receives has {} bytes by one argument and {} by another; make them agree",
                  rank, block.bytes(), bytes.size()));
}

void RankBlocks::put(int rank, const Block& block) const { pack(block, bytes_of(rank, block), comm_); }

void RankBlocks::get(int rank, const Block& block) const { unpack(bytes_of(rank, block), block, comm_); }

void exchange_in_buffers(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out) {
  in.take_in();
  const detail::Buffers read = in.buffers();
  const detail::Buffers written = out.buffers();
  detail::alltoallv(communicator, bytes(read.in, read.in_count, written.out, written.out_count), in.layout(),
                    out.layout(), {});
  out.deliver();
}

void exchange(const Communicator& communicator, const RankBlocks& in, const RankBlocks& out) {
  in.take_in();
  const PerRank<std::span<std::byte>> taken(out.ranks(), [&](std::size_t rank) { return out.of(rank); });
  if (&in == &out) {
    alltoallw(communicator, taken.all());
  } else {
    const PerRank<std::span<const std::byte>> given(in.ranks(), [&](std::size_t rank) { return in.of(rank); });
    alltoallw(communicator, given.all(), taken.all());
  }
  out.deliver();
}

}  // namespace chorus::preload
