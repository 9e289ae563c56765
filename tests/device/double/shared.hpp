// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

// What all parts of the doubles stand on: one lock, which everything that they remember is under, and the settings.
namespace chorus::test::doubles {

using Lock = std::unique_lock<std::mutex>;

[[nodiscard]] std::mutex& guard() noexcept;
/// Told of every change that a thread or a stream may wait for, but of the steps that a stream is given.
[[nodiscard]] std::condition_variable& changed() noexcept;

struct Settings {
  int devices = 8;
  int driver_version = 0;
  bool initialized = false;
  bool peer_access = true;
  std::chrono::microseconds delay{200};
  std::chrono::microseconds kernel_delay{0};
  std::chrono::microseconds copy_delay{0};
  int slow_device = -1;  ///< that of `kernel_delay`
  int era = 0;           ///< grows with `clear`
};
[[nodiscard]] Settings& settings();
/// The devices that CUDA_VISIBLE_DEVICES leaves, in its order: those before the first entry that is none.
[[nodiscard]] std::vector<int> visible_devices();
/// Sets all but `initialized` to what it is at first.
void restore_settings();

/// Rests for the delay without the lock.
void rest(Lock& lock);

/// A handle that is never given twice, and that nobody can dereference.
[[nodiscard]] void* new_handle() noexcept;

/// What else is to be done by `clear`, and in every one after.
void at_clear(void (*what)());
void run_at_clear();

}  // namespace chorus::test::doubles
