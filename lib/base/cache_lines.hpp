// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Cache lines that one processor writes and others read, and how they are brought near before they are needed.
namespace chorus {

inline constexpr std::size_t cache_line_bytes = 64;

/// Calls `touch` for each cache line of the `bytes` at `begin`.
template <class Touch>
void for_lines(const std::byte* begin, std::size_t bytes, Touch touch) noexcept {
  if (bytes == 0) return;
  const std::byte* const first = begin - reinterpret_cast<std::uintptr_t>(begin) % cache_line_bytes;
  for (const std::byte* line = first; line < begin + bytes; line += cache_line_bytes) touch(line);
}

/// Fetches what is to be read soon.
inline void prefetch_for_read(const std::byte* begin, std::size_t bytes) noexcept {
  for_lines(begin, bytes, [](const std::byte* line) { __builtin_prefetch(line); });
}

/// Fetches what is to be written soon: from those who have read it, and will not soon again.
inline void prefetch_for_write(const std::byte* begin, std::size_t bytes) noexcept {
  for_lines(begin, bytes, [](const std::byte* line) {
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
inline void take_lines(const std::byte* begin, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  if (!fetching_takes_lines) {
    return for_lines(begin, bytes, [](const std::byte* line) {
      std::uint64_t word;
      asm volatile("movq (%1), %0\n\tmovq %0, (%1)" : "=&r"(word) : "r"(line) : "memory");
    });
  }
#endif
  prefetch_for_write(begin, bytes);
}

}  // namespace chorus
