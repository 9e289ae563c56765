// SPDX-License-Identifier: Apache-2.0
#include "preload/rank_blocks.hpp"

#include <chorus/alltoallv.hpp>
#include <chorus/alltoallw.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace chorus::preload {

namespace {

/// All memory from the first to the last of what `bytes_of` gives of `blocks`.
template <class Blocks, class BytesOf>
std::span<std::byte> range_of(const Blocks& blocks, const BytesOf& bytes_of) noexcept {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  for (const auto& each : blocks) {
    const std::span<std::byte> block = bytes_of(each);
    if (block.empty()) continue;
    if (begin == nullptr || std::less<>()(block.data(), begin)) begin = block.data();
    if (end == nullptr || std::less<>()(end, block.data() + block.size())) end = block.data() + block.size();
  }
  return {begin, end};
}

}  // namespace

std::unique_ptr<std::byte[]> RankBlocks::room_to_pack(const RankBlocks* received) const {
  const auto needs_packing = [](const Block& block) { return block.bytes > 0 && is_staged(block.place, block.type); };
  bool packs = std::ranges::any_of(blocks_.all(), needs_packing);
  if (!packs && received != nullptr) {
    const std::span<std::byte> read = range_of(
        blocks_.all(), [](const Block& block) { return std::span(static_cast<std::byte*>(block.place), block.bytes); });
    const std::span<std::byte> written = received->range();
    packs = overlap(read.data(), read.size(), written.data(), written.size());
  }
  if (!packs) return nullptr;
  std::size_t all = 0;
  for (const Block& block : blocks_.all()) all += block.bytes;
  return std::make_unique_for_overwrite<std::byte[]>(all);
}

std::span<std::byte> RankBlocks::range() const noexcept { return range_of(spans(), std::identity()); }

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
  const PerRank<std::span<const std::byte>> given(in.spans().size(),
                                                  [&in](std::size_t rank) { return in.spans()[rank]; });
  alltoallw(communicator, given.all(), out.spans());
  out.deliver();
}

CommonBuffer::CommonBuffer(const RankBlocks& blocks)
    : range_(blocks.range()),
      buffers_(bytes(range_.data(), range_.size(), range_.data(), range_.size())),
      counts_(blocks.spans().size(), [&](std::size_t rank) { return blocks.spans()[rank].size(); }),
      displacements_(blocks.spans().size(), [&](std::size_t rank) {
        const std::span<std::byte> block = blocks.spans()[rank];
        return block.empty() ? 0 : static_cast<std::size_t>(block.data() - range_.data());
      }) {}

}  // namespace chorus::preload
