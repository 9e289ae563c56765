// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/accelerator.hpp"
#include "device/device_native.hpp"
#include "device/device_pace.hpp"
#include "device/peer_windows.hpp"
#include "task/task.hpp"

#include <chorus/error.hpp>

#include <memory>
#include <optional>
#include <string>

namespace chorus {

class Transport;

/// The devices of the ranks of a communicator, as one of them has them.
struct Devices {
  std::unique_ptr<Accelerator> accelerator;
  std::unique_ptr<DeviceNative> native;  ///< null on every rank, or on none
  std::optional<Error> no_native = {};   ///< why, where it is null
  std::unique_ptr<PeerWindows> windows;  ///< likewise
  DevicePace pace;                       ///< the same on every rank; unknown where `native` carries calls out
  std::string note;                      ///< how the devices reach one another, for the log; the same on every rank
};

/// Finds out how the devices reach one another; this rank's is `own`. Every rank calls.
/// Throws Error{transport} where the driver or NCCL fails, Error{not_built} without CUDA.
[[nodiscard]] Task<Devices> find_devices(Transport& transport, std::unique_ptr<Accelerator> own);

}  // namespace chorus
