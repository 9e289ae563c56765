// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace chorus::test {

/// Memory for `bytes` bytes that starts `offset` bytes after a cache line and ends where the allocation ends, so that
/// the address sanitizer sees the first byte beyond it.
class Unaligned {
 public:
  Unaligned(std::size_t bytes, std::size_t offset)
      : memory_(static_cast<std::byte*>(::operator new(bytes + offset, std::align_val_t(64)))), offset_(offset) {}
  explicit Unaligned(std::span<const std::byte> content, std::size_t offset) : Unaligned(content.size(), offset) {
    if (!content.empty()) std::memcpy(data(), content.data(), content.size());
  }

  [[nodiscard]] std::byte* data() const { return memory_.get() + offset_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t offset_;
};

/// Output for `bytes` bytes between guards that nobody may touch.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t offset) : bytes_(bytes), memory_(bytes + 2 * guard, offset) {
    std::memset(memory_.data(), pattern, bytes + 2 * guard);
  }

  [[nodiscard]] std::byte* data() const { return memory_.data() + guard; }
  [[nodiscard]] bool intact() const {
    const auto untouched = [](const std::byte* from) {
      return std::all_of(from, from + guard, [](std::byte b) { return b == std::byte{pattern}; });
    };
    return untouched(memory_.data()) && untouched(data() + bytes_);
  }

 private:
  static constexpr std::size_t guard = 64;
  static constexpr int pattern = 0xA5;
  std::size_t bytes_;
  Unaligned memory_;
};

}  // namespace chorus::test
