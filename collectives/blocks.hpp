// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/section.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace chorus {

/// A vector cut into one block a rank: lengths differ by one element at most, unless they are given, and may be 0.
class Blocks {
 public:
  Blocks(const Call& call, int ranks) noexcept : Blocks(call.count, call.element_bytes(), ranks) {}
  Blocks(std::size_t count, std::size_t element, int ranks) noexcept
      : ranks_(ranks),
        element_(element),
        count_(count / static_cast<std::size_t>(ranks)),
        longer_(count % static_cast<std::size_t>(ranks)) {}
  /// Of given lengths, one behind the other from the start of the vector. `blocks` outlives this.
  explicit Blocks(std::span<const Section> blocks) noexcept
      : ranks_(static_cast<int>(blocks.size())), element_(1), given_(blocks) {}

  /// Block numbers wrap around: block -1 is the last one.
  [[nodiscard]] std::size_t offset(int block) const noexcept { return start(wrap(block)) * element_; }
  [[nodiscard]] std::size_t bytes(int block) const noexcept {
    const std::size_t index = wrap(block);
    return (start(index + 1) - start(index)) * element_;
  }
  /// Not of given lengths.
  [[nodiscard]] std::size_t longest_bytes() const noexcept { return (count_ + (longer_ > 0 ? 1 : 0)) * element_; }
  /// Bytes from the start of `first` to the start of `last`, blocks 0 <= first <= last <= ranks.
  [[nodiscard]] std::size_t span_bytes(int first, int last) const noexcept {
    return (start(static_cast<std::size_t>(last)) - start(static_cast<std::size_t>(first))) * element_;
  }

 private:
  [[nodiscard]] std::size_t wrap(int block) const noexcept {
    const int remainder = block % ranks_;
    return static_cast<std::size_t>(remainder < 0 ? remainder + ranks_ : remainder);
  }
  [[nodiscard]] std::size_t start(std::size_t block) const noexcept {
    if (given_.empty()) return block * count_ + std::min(block, longer_);
    return block < given_.size() ? given_[block].offset : given_.back().offset + given_.back().bytes;
  }

  int ranks_;
  std::size_t element_;
  std::size_t count_ = 0;   // elements of a shorter block
  std::size_t longer_ = 0;  // this many blocks, the first, have one more
  std::span<const Section> given_;
};

}  // namespace chorus
