// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus {

/// zlib's checksum of bytes that come piece by piece.
class Crc32 {
 public:
  void add(std::span<const std::byte> bytes) noexcept {
    if (bytes.empty()) return;  // zlib starts anew where there is no address
    value_ = crc32_z(value_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  [[nodiscard]] std::uint32_t value() const noexcept { return static_cast<std::uint32_t>(value_); }

 private:
  uLong value_ = 0;
};

}  // namespace chorus
