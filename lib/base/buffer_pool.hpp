// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace chorus {

/// Working memory for algorithms, kept for the next call: after the first call of a kind nothing is allocated.
/// 64-byte aligned. Used by one thread at a time.
class BufferPool {
 public:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t capacity = 0;
  };

  /// Memory that goes back to its pool.
  class Scratch {
   public:
    Scratch(BufferPool& pool, Block block, std::size_t bytes) noexcept
        : pool_(&pool), block_(std::move(block)), bytes_(bytes) {}
    Scratch(Scratch&& other) noexcept = default;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch() {
      if (block_.memory) pool_->free_.push_back(std::move(block_));
    }
    [[nodiscard]] std::byte* data() const noexcept;
    [[nodiscard]] Bytes bytes() const noexcept { return {data(), bytes_}; }
    operator Bytes() const noexcept { return bytes(); }  // NOLINT(google-explicit-constructor): it is the memory

   private:
    BufferPool* pool_;
    Block block_;
    std::size_t bytes_;
  };

  [[nodiscard]] Scratch take(std::size_t bytes);
  /// Its memory is never freed: somebody may still read it, or write there.
  void keep() noexcept {
    for (Block& block : free_) static_cast<void>(block.memory.release());
    free_.clear();
  }

 private:
  std::vector<Block> free_;
};

using Scratch = BufferPool::Scratch;

}  // namespace chorus
