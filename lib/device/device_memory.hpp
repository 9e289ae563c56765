// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/known_places.hpp"

#include <atomic>
#include <cstddef>

namespace chorus {

/// Who may read and write a piece of memory.
struct MemoryPlace {
  bool host = true;
  int device = -1;  ///< the number that the CUDA driver gives it in this process; -1: no device
};

/// Where `address` lies: managed memory is the host's and a device's.
/// Throws Error{not_built} where the library has been built without CUDA, Error{not_supported} where there is no
/// driver.
[[nodiscard]] MemoryPlace place_of(const void* address);

/// The device whose memory `address` is, as place_of tells; -1: none. `expected` is what it most likely is, or -1: the
/// driver is not asked where it has told just that of the address before, which takes longer than many a call.
[[nodiscard]] int device_of(const void* address, int expected);

/// Whether this process had to do with CUDA when it was last looked, or chorus has loaded the driver: as long as it has
/// not, no pointer can be one of a device.
inline std::atomic<bool> process_uses_cuda{false};
/// Looks whether the process has loaded the driver.
void look_for_cuda() noexcept;

inline KnownPlaces addresses_on_host;
[[nodiscard]] inline bool is_known_on_host(const void* address) noexcept { return addresses_on_host.has(address, 0); }
/// Looks whether the process has loaded the driver, for an address that is not known yet: false where it has not.
[[nodiscard]] bool look_at_new(const void* address) noexcept;
/// False where `address` is of the host, which takes no time in a process that has nothing to do with CUDA.
[[nodiscard]] inline bool may_be_on_device(const void* address) noexcept {
  return !is_known_on_host(address) && (process_uses_cuda.load(std::memory_order_relaxed) || look_at_new(address));
}

/// The device that the calling thread uses in CUDA; 0 where it has chosen none.
[[nodiscard]] int current_device();

/// True where only a device may read `address`. False where nothing is known about it.
[[nodiscard]] bool is_device_only(const void* address) noexcept;
/// The same, at no cost in a process that has nothing to do with CUDA.
[[nodiscard]] inline bool on_device(const void* address) noexcept {
  return process_uses_cuda.load(std::memory_order_relaxed) && is_device_only(address);
}

/// Copies `bytes`, wherever each of the two lies, and waits for it. They do not overlap.
/// Throws Error{transport} where the driver cannot.
void copy_anywhere(void* out, const void* in, std::size_t bytes);

}  // namespace chorus
