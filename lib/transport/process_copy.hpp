// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <cstddef>
#include <cstdint>

// Reading and writing the memory of another process (process_vm_readv, process_vm_writev): one copy, where shared
// memory needs two. Systems forbid it in many ways (ptrace_scope of Yama, user namespaces, filters of containers), and
// some then copy nothing without an error: it is tried first.
namespace chorus {

/// Where others find a word of this process by which they see that they reach the right memory.
struct MemoryProbe {
  std::uint64_t address = 0;
  std::uint64_t word = 0;
};
[[nodiscard]] MemoryProbe memory_probe() noexcept;

/// True where this process can read `probe` in the process with that PID, and write it there as it is.
[[nodiscard]] bool can_reach(std::int32_t pid, const MemoryProbe& probe) noexcept;

/// True where that process, which could be reached, has ended, even if its parent has not heard of it.
[[nodiscard]] bool has_ended(std::int32_t pid) noexcept;

/// Copies `bytes` at `there` in the process with that PID to `out`. False where the system does not: the process has
/// ended, or has changed its rights, or what lies there is no ordinary memory.
[[nodiscard]] bool read_process(std::int32_t pid, std::byte* out, const std::byte* there, std::size_t bytes) noexcept;
/// Copies `data` to `there` in that process; false likewise.
[[nodiscard]] bool write_process(std::int32_t pid, std::byte* there, ConstBytes data) noexcept;

}  // namespace chorus
