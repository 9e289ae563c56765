// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/machine.hpp"
#include "kernels/kernels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace chorus::kernels {

/// Which way copies go that are too long for the caches near a core: past the caches or not, whichever took less time
/// lately on this machine. The first copies of about one length take turns, and one in 32 of the later ones tries the
/// other way, as neighbours change what the caches hold. Any thread may copy.
template <class Clock = std::chrono::steady_clock>
class LongCopies {
 public:
  static constexpr std::size_t from = machine::beyond_caches;

  /// Calls `copy(store)`, which copies `bytes`, at least `from`.
  void run(std::size_t bytes, const auto& copy) {
    Length& length = lengths_[std::min<std::size_t>(std::bit_width(bytes / from) - 1, lengths_.size() - 1)];
    const Store store = length.next();
    const auto began = Clock::now();
    copy(store);
    const std::chrono::duration<float, std::nano> took = Clock::now() - began;
    length.note(store, took.count() / static_cast<float>(bytes));
  }

 private:
  /// Copies of up to twice a length.
  class Length {
   public:
    Store next() {
      const bool streamed = of(Store::streamed) < of(Store::cached);
      const std::uint32_t copy = copies_.fetch_add(1, std::memory_order_relaxed);
      if (copy < first_copies) return copy % 2 == 0 ? Store::cached : Store::streamed;
      return streamed != (copy % 32 == 0) ? Store::streamed : Store::cached;
    }
    /// A time is forgotten by and by where later ones are longer: most often they were disturbed.
    void note(Store store, float ns_per_byte) {
      std::atomic<float>& known = of(store);
      const float before = known.load(std::memory_order_relaxed);
      const bool shorter = before == 0 || ns_per_byte < before;
      known.store(shorter ? ns_per_byte : before + (ns_per_byte - before) / 8, std::memory_order_relaxed);
    }

   private:
    static constexpr std::uint32_t first_copies = 8;
    std::atomic<float>& of(Store store) { return ns_per_byte_[store == Store::streamed ? 1 : 0]; }
    std::array<std::atomic<float>, 2> ns_per_byte_{};
    std::atomic<std::uint32_t> copies_{0};
  };
  std::array<Length, 4> lengths_;
};

}  // namespace chorus::kernels
