// SPDX-License-Identifier: Apache-2.0
#include "preload/rank_blocks.hpp"

#include <chorus/alltoallv.hpp>
#include <chorus/alltoallw.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

namespace chorus::preload {

void RankBlocks::set_apart() {
  std::size_t all = 0;
  for (const Block& block : blocks_.all()) all += block.bytes();
  packed_ = std::make_unique_for_overwrite<std::byte[]>(all);
  begin_ = end_ = packed_.get();
  for (const Block& block : blocks_.all()) {
    packed_places_.push_back(end_);
    end_ += block.bytes();
  }
}

void RankBlocks::take_in(int rank) const {
  if (packed_) put(rank, blocks_[static_cast<std::size_t>(rank)]);
}

void RankBlocks::take_in() const {
  if (!packed_) return;
  for (std::size_t rank = 0; rank < ranks(); ++rank) put(static_cast<int>(rank), blocks_[rank]);
}

void RankBlocks::deliver() const {
  if (!packed_) return;
  for (std::size_t rank = 0; rank < ranks(); ++rank) get(static_cast<int>(rank), blocks_[rank]);
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
  const CommonBuffer from(in);
  const CommonBuffer to(out);
  const detail::Buffers& read = from.buffers();
  const detail::Buffers& written = to.buffers();
  detail::alltoallv(communicator, bytes(read.in, read.in_count, written.out, written.out_count), from.layout(),
                    to.layout(), {});
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

CommonBuffer::CommonBuffer(const RankBlocks& blocks)
    : buffers_(bytes(blocks.range().data(), blocks.range().size(), blocks.range().data(), blocks.range().size())),
      counts_(blocks.ranks(), [&](std::size_t rank) { return blocks.of(rank).size(); }),
      displacements_(blocks.ranks(), [&](std::size_t rank) {
        const std::span<std::byte> block = blocks.of(rank);
        return block.empty() ? 0 : static_cast<std::size_t>(block.data() - blocks.range().data());
      }) {}

}  // namespace chorus::preload
