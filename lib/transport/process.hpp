// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace chorus {

/// A process, told apart from a later one with the same PID, and from those of other machines and containers.
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< when it started, in clock ticks since boot
  std::uint64_t pid_space = 0;    ///< see pid_space_of
};

/// The state letter of the kernel: R running, S sleeping, D in the kernel, T stopped, Z ended but not collected; X
/// where there is no such process any more, ? where it cannot be seen from here.
[[nodiscard]] char state_of(const ProcessId& process);

/// The calling process.
[[nodiscard]] ProcessId this_process();

/// The PID namespace in which PIDs count: of the kernel with that boot id the one with that inode number, as the first
/// of every machine has the same. 0, which is none, where either is not known.
[[nodiscard]] std::uint64_t pid_space_of(const std::string& boot_id, std::uint64_t inode);

/// The same for all processes of a running kernel: its boot id, hashed.
[[nodiscard]] std::uint64_t this_kernel();

}  // namespace chorus
