// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/gpu.hpp>

#include <optional>

namespace chorus {

/// Keeps the calling thread on a replica's device until it is destroyed: on its PUs, with its GPU as the current one
/// where it is one. Throws   what ThreadBinding and CurrentGpu throw.
class ReplicaBinding {
 public:
  explicit ReplicaBinding(const Device& device) : pus_(device) {
    if (device.kind() == Device::Kind::gpu) gpu_.emplace(device.index());
  }

 private:
  ThreadBinding pus_;
  std::optional<CurrentGpu> gpu_;
};

}  // namespace chorus
