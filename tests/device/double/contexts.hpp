// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

// Devices and their primary contexts. All under the lock.
namespace chorus::test::doubles {

/// The device of `context`; -1: it is none, or has been released.
[[nodiscard]] int device_of(CUcontext context);
[[nodiscard]] bool is_device(int device);
/// The primary context of a device, retained or not.
[[nodiscard]] CUcontext primary_context(int device);

/// The current context of this thread, or null.
[[nodiscard]] CUcontext current_context();
/// Its device, or -1.
[[nodiscard]] int current_device();

}  // namespace chorus::test::doubles
