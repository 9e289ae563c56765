// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>

#include <utility>
#include <vector>

namespace chorus {

/// `devices`. Throws   Error{invalid_argument} where this process may not run on one of them.
inline std::vector<Device> usable(std::vector<Device> devices) {
  for (const Device& device : devices) const ThreadBinding tried(device);
  return devices;
}

}  // namespace chorus
