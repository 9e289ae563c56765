// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memory.hpp"

#include <cuda.h>

// Which devices reach which memory. All under the lock.
namespace chorus::test::doubles {

/// Why a kernel in `context`, of `device`, cannot reach what `allocation` is; null where it can.
[[nodiscard]] const char* obstacle(const Allocation& allocation, CUcontext context, int device);

}  // namespace chorus::test::doubles
