// SPDX-License-Identifier: Apache-2.0
#include "scratch.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace chorus {
namespace {

/// Of a thread.
constexpr std::size_t most_kept = std::size_t{64} << 20U;

struct Block {
  std::size_t capacity;
  std::unique_ptr<std::byte[]> bytes;
};

struct Kept {
  std::vector<Block> blocks;
  std::size_t bytes = 0;
};

Kept& kept() {
  thread_local Kept of_this_thread;
  return of_this_thread;
}

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  if (bytes == 0) return;
  capacity_ = std::bit_ceil(bytes);
  Kept& mine = kept();
  const auto block = std::ranges::find(mine.blocks, capacity_, &Block::capacity);
  if (block == mine.blocks.end()) {
    block_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
    return;
  }
  block_ = std::move(block->bytes);
  mine.blocks.erase(block);
  mine.bytes -= capacity_;
}

Scratch::~Scratch() {
  Kept& mine = kept();
  if (!block_ || mine.bytes + capacity_ > most_kept) return;
  try {
    mine.blocks.push_back({capacity_, std::move(block_)});
    mine.bytes += capacity_;
  } catch (...) {  // there is no memory for the list: it is freed
  }
}

}  // namespace chorus
