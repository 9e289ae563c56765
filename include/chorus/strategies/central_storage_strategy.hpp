// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/strategies/strategy.hpp>

#include <optional>
#include <vector>

namespace chorus {

/// One replica on each of several devices of this process, and a single copy of every variable on one of them: what the
/// replicas write is reduced before it is written there.
class CHORUS_API CentralStorageStrategy final : public Strategy {
 public:
  /// `compute_devices`: empty: all that this process may use. `parameter_device`: none: the first of them.
  /// Throws   Error{invalid_argument} where a device is named twice, or this process may not run on all of one;
  ///          Error{transport} where the system starts no thread for a replica.
  explicit CentralStorageStrategy(std::vector<Device> compute_devices = {},
                                  const std::optional<Device>& parameter_device = {},
                                  const CommunicationOptions& options = {});
};

}  // namespace chorus
