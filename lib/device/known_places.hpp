// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace chorus {

/// Places of addresses that were asked for: to ask the driver takes longer than a short call. An address that is not
/// here may have been; null is of the host (place 0).
class KnownPlaces {
 public:
  [[nodiscard]] bool has(const void* address, int place) const noexcept {
    return known_[line_of(address)].load(std::memory_order_relaxed) == entry(address, place);
  }
  void add(const void* address, int place) noexcept {
    known_[line_of(address)].store(entry(address, place), std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned line_bits = 6;

  [[nodiscard]] static std::size_t line_of(const void* address) noexcept {
    // Buffers of devices begin at multiples of 512 bytes or 2 MiB: by the golden ratio these are spread.
    return (std::uint64_t{reinterpret_cast<std::uintptr_t>(address)} * 0x9E3779B97F4A7C15U) >> (64U - line_bits);
  }
  /// Of an address the kernel gives 56 bits at most.
  [[nodiscard]] static std::uint64_t entry(const void* address, int place) noexcept {
    return std::uint64_t{reinterpret_cast<std::uintptr_t>(address)} << 8U | static_cast<std::uint8_t>(place);
  }

  std::array<std::atomic<std::uint64_t>, std::size_t{1} << line_bits> known_{};
};

}  // namespace chorus
