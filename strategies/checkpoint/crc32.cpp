// SPDX-License-Identifier: Apache-2.0
// Eight bytes at a time with eight tables ("slicing-by-8": Kounavis and Berry, ISCC 2005): table k says what a byte
// makes of the checksum when k bytes follow it.
#include "checkpoint/crc32.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace chorus {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  constexpr std::uint32_t polynomial = 0xEDB88320U;  // the bits of 0x04C11DB7 the other way round
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1U) != 0 ? value >> 1U ^ polynomial : value >> 1U;
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8U ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();
static_assert(std::endian::native == std::endian::little, "eight bytes are read as one number");

}  // namespace

void Crc32::add(std::span<const std::byte> bytes) noexcept {
  std::uint32_t state = state_;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data(), sizeof(eight));
    eight ^= state;
    state = 0;
    for (std::size_t k = 0; k < 8; ++k) state ^= tables[7 - k][eight >> 8 * k & 0xFFU];
  }
  for (const std::byte byte : bytes) {
    state = state >> 8U ^ tables[0][(state ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
  }
  state_ = state;
}

}  // namespace chorus
