// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Reading the memory of another process (process_vm_readv): one copy, where shared memory needs two. Systems forbid it
// in many ways (ptrace_scope of Yama, user namespaces, filters of containers), and some then read nothing without an
// error: it is tried first.
namespace chorus {

/// Where others find a word of this process by which they see that they read the right memory.
struct ReadingProbe {
  std::uint64_t address = 0;
  std::uint64_t word = 0;
};
[[nodiscard]] ReadingProbe reading_probe() noexcept;

/// True where this process can read `probe` in the process with that PID.
[[nodiscard]] bool can_read(std::int32_t pid, const ReadingProbe& probe) noexcept;

/// Copies `bytes` at `there` in the process with that PID to `out`. False where the system does not: the process has
/// ended, or has changed its rights, or what lies there is no ordinary memory.
[[nodiscard]] bool read_process(std::int32_t pid, std::byte* out, const std::byte* there, std::size_t bytes) noexcept;

}  // namespace chorus
