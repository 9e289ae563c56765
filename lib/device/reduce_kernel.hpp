// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/kernels/reduce_elements.hpp"

#include <cuda.h>

namespace chorus {

/// The kernel that joins the elements of several ranks, in the context that is current: loaded when it is first asked
/// for, and kept as the context is.
/// Throws Error{not_supported} where the library has none, Error{transport} where the driver does not take it.
[[nodiscard]] CUfunction reduce_kernel(CUcontext current);

/// Puts it into `stream`, whose context is current.
/// Throws Error{transport} where the driver cannot.
void launch_reduction(CUfunction kernel, device_kernels::Reduction reduction, CUstream stream);

}  // namespace chorus
