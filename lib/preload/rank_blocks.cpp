// SPDX-License-Identifier: Apache-2.0
#include "preload/rank_blocks.hpp"

#include <chorus/alltoallv.hpp>
#include <chorus/alltoallw.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace chorus::preload {

RankBlocks::RankBlocks(std::vector<Block> blocks, MPI_Comm comm, bool apart) : blocks_(std::move(blocks)), comm_(comm) {
  std::size_t all = 0;
  for (const Block& block : blocks_) all += block.bytes;
  const auto needs_packing = [](const Block& block) { return block.bytes > 0 && is_staged(block.place, block.type); };
  if (apart || std::ranges::any_of(blocks_, needs_packing)) packed_ = std::make_unique_for_overwrite<std::byte[]>(all);
  spans_.reserve(blocks_.size());
  std::byte* next = packed_.get();
  for (const Block& block : blocks_) {
    spans_.emplace_back(packed_ ? next : static_cast<std::byte*>(block.place), block.bytes);
    if (packed_) next += block.bytes;
  }
}

std::span<std::byte> RankBlocks::range() const noexcept {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  for (const std::span<std::byte> block : spans_) {
    if (block.empty()) continue;
    if (begin == nullptr || std::less<>()(block.data(), begin)) begin = block.data();
    if (end == nullptr || std::less<>()(end, block.data() + block.size())) end = block.data() + block.size();
  }
  return {begin, end};
}

void RankBlocks::take_in(int rank) const {
  if (packed_) put(rank, blocks_[static_cast<std::size_t>(rank)]);
}

void RankBlocks::take_in() const {
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) take_in(static_cast<int>(rank));
}

void RankBlocks::deliver(int rank) const {
  if (packed_) get(rank, blocks_[static_cast<std::size_t>(rank)]);
}

void RankBlocks::deliver() const {
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) deliver(static_cast<int>(rank));
}

std::byte* RankBlocks::bytes_of(int rank, const Block& block) const {
  const std::span<std::byte> bytes = spans_[static_cast<std::size_t>(rank)];
  if (bytes.size() == block.bytes) return bytes.data();
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("what rank {} sends and receives has {} bytes by one argument and {} by another; make them agree",
                  rank, block.bytes, bytes.size()));
}

void RankBlocks::put(int rank, const Block& block) const { pack(block, bytes_of(rank, block), comm_); }

void RankBlocks::get(int rank, const Block& block) const { unpack(bytes_of(rank, block), block, comm_); }

RankBlocks apart_from(const RankBlocks& out, std::vector<Block> blocks, MPI_Comm comm) {
  const std::span<std::byte> written = out.range();
  RankBlocks in(blocks, comm);
  const std::span<std::byte> read = in.range();
  if (!overlap(read.data(), read.size(), written.data(), written.size())) return in;
  return {std::move(blocks), comm, true};
}

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
  if (&in == &out) {
    alltoallw(communicator, out.spans());
    return out.deliver();
  }
  const std::vector<std::span<const std::byte>> given(in.spans().begin(), in.spans().end());
  alltoallw(communicator, given, out.spans());
  out.deliver();
}

CommonBuffer::CommonBuffer(const RankBlocks& blocks) {
  const std::span<std::byte> range = blocks.range();
  buffers_ = bytes(range.data(), range.size(), range.data(), range.size());
  for (const std::span<std::byte> block : blocks.spans()) {
    counts_.push_back(block.size());
    displacements_.push_back(block.empty() ? 0 : static_cast<std::size_t>(block.data() - range.data()));
  }
}

}  // namespace chorus::preload
