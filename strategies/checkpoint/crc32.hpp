// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus {

/// The checksum that zlib, gzip and PNG use, of bytes that come piece by piece.
class Crc32 {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] std::uint32_t value() const noexcept { return ~state_; }

 private:
  std::uint32_t state_ = ~std::uint32_t{0};
};

}  // namespace chorus
