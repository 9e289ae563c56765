// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/strategies/cross_device_ops.hpp>
#include <chorus/strategies/strategy.hpp>

#include <memory>
#include <vector>

namespace chorus {

/// One replica on each of several devices of this process; every variable has a copy on each of them, and all copies
/// are kept equal.
class CHORUS_API MirroredStrategy final : public Strategy {
 public:
  /// `devices`: empty: all that this process may use (local_devices). `cross_device_ops`: null: CollectiveAllReduce.
  /// Throws   Error{invalid_argument} where a device is named twice, or this process may not run on all of one;
  ///          Error{transport} where the system starts no thread for a replica.
  explicit MirroredStrategy(std::vector<Device> devices = {},
                            std::unique_ptr<CrossDeviceOps> cross_device_ops = nullptr,
                            const CommunicationOptions& options = {});
};

}  // namespace chorus
