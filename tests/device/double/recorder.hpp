// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "double.hpp"

#include <cstdint>
#include <string>

// What was called, and what was wrong. All under the lock.
namespace chorus::test::doubles {

/// Remembers a call that begins and gives its number.
std::uint64_t record(DeviceCall call);
/// What it returned.
void record_result(std::uint64_t number, int result);

/// Remembers a fault of the calling thread, or of what is enqueued.
void record_fault(const std::string& what);

[[nodiscard]] std::string& thread_label();
/// How many ncclGroupStart of this thread have no ncclGroupEnd yet.
[[nodiscard]] int& group_depth();
/// Whether this thread runs a function of cuLaunchHostFunc.
[[nodiscard]] bool& in_host_function();

/// The counts of what lives, kept by those who make and destroy it.
[[nodiscard]] Leaks& living();

/// The result of a failure that was injected for this call, or 0.
[[nodiscard]] int injected_failure(const std::string& function, int device);

}  // namespace chorus::test::doubles
