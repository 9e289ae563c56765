// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <cstddef>
#include <cstdint>

// Cache lines that one processor writes and others read, and how they are brought near before they are needed.
namespace chorus {

inline constexpr std::size_t cache_line_bytes = 64;

/// Calls `touch` for each cache line of `bytes`.
template <class Touch>
void for_lines(ConstBytes bytes, Touch touch) noexcept {
  if (bytes.empty()) return;
  const std::byte* const end = bytes.data() + bytes.size();
  const std::byte* const first = bytes.data() - reinterpret_cast<std::uintptr_t>(bytes.data()) % cache_line_bytes;
  for (const std::byte* line = first; line < end; line += cache_line_bytes) touch(line);
}

/// Fetches what is to be read soon.
inline void prefetch_for_read(ConstBytes bytes) noexcept {
  for_lines(bytes, [](const std::byte* line) { __builtin_prefetch(line); });
}

/// Fetches what is to be written soon: from those who have read it, and will not soon again.
inline void prefetch_for_write(ConstBytes bytes) noexcept {
  for_lines(bytes, [](const std::byte* line) {
#if defined(__x86_64__)
    asm volatile("prefetchw (%0)" ::"r"(line));
#else
    __builtin_prefetch(line, 1);
#endif
  });
}

/// True where a fetch to write takes a line from all others. Processors of AMD leave a line that they still have, and
/// others too, to all of them.
extern const bool fetching_takes_lines;

/// Lets this processor have that to itself before it is written, where nobody else may write: by such a fetch, or by a
/// store of what stands there.
inline void take_lines(ConstBytes bytes) noexcept {
#if defined(__x86_64__)
  if (!fetching_takes_lines) {
    return for_lines(bytes, [](const std::byte* line) {
      std::uint64_t word;
      asm volatile("movq (%1), %0\n\tmovq %0, (%1)" : "=&r"(word) : "r"(line) : "memory");
    });
  }
#endif
  prefetch_for_write(bytes);
}

}  // namespace chorus
