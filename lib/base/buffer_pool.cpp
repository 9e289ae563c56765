// SPDX-License-Identifier: Apache-2.0
#include "base/buffer_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace chorus {
namespace {

constexpr std::size_t alignment = 64;

}  // namespace

std::byte* BufferPool::Scratch::data() const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block_.memory.get());
  return block_.memory.get() + ((alignment - address % alignment) % alignment);
}

Scratch BufferPool::take(std::size_t bytes) {
  const std::size_t capacity = std::bit_ceil(std::max<std::size_t>(bytes, alignment)) + alignment;
  const auto found = std::ranges::find_if(free_, [&](const Block& block) { return block.capacity == capacity; });
  if (found == free_.end()) {
    return {*this, {std::make_unique_for_overwrite<std::byte[]>(capacity), capacity}, bytes};
  }
  Block block = std::move(*found);
  free_.erase(found);
  return {*this, std::move(block), bytes};
}

}  // namespace chorus
