// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device_native.hpp"
#include "task/task.hpp"

#include <chorus/error.hpp>

#include <memory>
#include <string>

namespace chorus {

class Transport;

/// NCCL as it is found here.
struct NcclHere {
  int version = 0;                            ///< 22809 is 2.28.9; 0: there is none
  std::string missing;                        ///< why there is none, and what to do
  ErrorCode code = ErrorCode::not_supported;  ///< where there is none
};
[[nodiscard]] NcclHere nccl_here();

/// NCCL over the ranks of `transport`, each of which calls with a device of its own; waits until they are connected.
/// Throws Error{transport} where NCCL cannot.
[[nodiscard]] Task<std::unique_ptr<DeviceNative>> connect_nccl(Transport& transport, int device);

}  // namespace chorus
