// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus {

/// Lets this processor have the cache line of `address`, which others may have read, to itself before it is written.
/// Nobody else may write there. By a store of what stands there: AMD's processors leave a line that they still have,
/// and others too, to all of them where it is fetched to be written.
inline void take_line(std::byte* address) noexcept {
#if defined(__x86_64__)
  std::byte* const line = address - reinterpret_cast<std::uintptr_t>(address) % 64;
  std::uint64_t word;
  asm volatile("movq (%1), %0\n\tmovq %0, (%1)" : "=&r"(word) : "r"(line) : "memory");
#else
  __builtin_prefetch(address, 1);
#endif
}

/// Fetches the cache line of `address` to be written soon.
inline void prefetch_for_write(const void* address) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw (%0)" ::"r"(address));
#else
  __builtin_prefetch(address, 1);
#endif
}

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// The bytes of one object.
template <class T>
[[nodiscard]] ConstBytes bytes_of(const T& object) noexcept {
  return std::as_bytes(std::span<const T, 1>(&object, 1));
}
template <class T>
[[nodiscard]] Bytes writable_bytes_of(T& object) noexcept {
  return std::as_writable_bytes(std::span<T, 1>(&object, 1));
}

}  // namespace chorus
