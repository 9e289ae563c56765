// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace chorus {

/// A process of this machine, told apart from a later one with the same PID.
struct ProcessId {
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< when it started, in clock ticks since boot
  std::uint64_t pid_space = 0;    ///< the PID namespace in which `pid` counts
};

/// The state letter of the kernel: R running, S sleeping, D in the kernel, T stopped, Z ended but not collected; X
/// where there is no such process any more, ? where it cannot be seen from here.
[[nodiscard]] char state_of(const ProcessId& process);

/// The calling process.
[[nodiscard]] ProcessId this_process();

/// The same for all processes of a running kernel: its boot id, hashed.
[[nodiscard]] std::uint64_t this_kernel();

}  // namespace chorus
