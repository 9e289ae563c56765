// SPDX-License-Identifier: Apache-2.0
#include "usable_parts.hpp"

#include "replica_binding.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace chorus {

void check_usable(const CommunicationOptions& options) {
  if (options.timeout.count() < 0) {
    throw Error(ErrorCode::invalid_argument,
                "CommunicationOptions::timeout is negative: give a duration, or 0 for what CHORUS_TIMEOUT says");
  }
}

void check_named_once(const std::string& strategy, std::span<const Device> devices) {
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (std::find(devices.begin(), device, *device) == device) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} strategy: device {} is named twice: each replica needs a device of its own", strategy,
                            device->name()));
  }
}

void check_may_run_on(std::span<const Device> devices) {
  for (const Device& device : devices) const ReplicaBinding tried(device);
}

}  // namespace chorus
