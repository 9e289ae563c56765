// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

namespace chorus {

class Accelerator;
class PeerWindows;
class Transport;

/// How fast data goes to and from the memory of devices, all ranks at a time: microseconds of a step and megabytes
/// (10^6 bytes) a second and rank, of the slowest rank. Zero: not measured.
///
/// What a step takes depends on who shares a device: processes take turns on it, of some hundred microseconds for all
/// of them, while one that has a device of its own, and threads of one process, wait some microseconds.
struct DevicePace {
  double copies_us = 0;  ///< of a copy to the host and, when all ranks of the node have theirs, one back
  double copies_megabytes_per_second = 0;   ///< both ways together, a segment on its way each way
  double windows_us = 0;                    ///< of writing this rank's window, or of joining what is in all of them
  double windows_megabytes_per_second = 0;  ///< written to this rank's window and read from all

  [[nodiscard]] bool known() const noexcept { return copies_us > 0; }
  [[nodiscard]] bool knows_windows() const noexcept { return windows_us > 0; }
  friend bool operator==(const DevicePace&, const DevicePace&) = default;
};

/// Where a rank is, and its device.
struct DevicePlace {
  std::uint64_t kernel = 0;       ///< the machine, as its kernel runs
  std::array<char, 32> bus_id{};  ///< of the device there, which its instances have in common
  std::int64_t pid = 0;           ///< of the process
  std::uint64_t start_ticks = 0;  ///< when that has started

  friend auto operator<=>(const DevicePlace&, const DevicePlace&) = default;
};

/// The pace of the devices in `places`, one for each rank: what one of the ranks remembers of just these, with windows
/// or without, or else what is measured, which takes some dozen turns on a device that is shared. `windows` is null on
/// every rank, or on none. Every rank calls it, gets the same, and remembers it. Nothing is known where a call of
/// CUDA's fails while it is measured.
Task<DevicePace> agree_on_device_pace(Transport& transport, Accelerator& device, PeerWindows* windows,
                                      std::vector<DevicePlace> places);

/// What this process remembers is measured again.
void forget_device_pace();

}  // namespace chorus
