// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/visible_gpus.hpp"
#include "topology/gpu_distance.hpp"
#include "topology/topology.hpp"

#include <chorus/communicator.hpp>

#include <optional>

namespace chorus {

/// The GPU that a rank takes, and why.
struct TakenGpu {
  VisibleGpus visible;     ///< those it can use
  std::optional<Gpu> gpu;  ///< that of nearest_gpu
  GpuDistance distance = GpuDistance::unknown;
  bool bound = false;   ///< the rank is
  bool wanted = false;  ///< CHORUS_GPUS names the GPU
};

/// What nearest_gpu does, on this rank's machine `topology`, which is read with devices.
[[nodiscard]] TakenGpu take_nearest_gpu(const Communicator& comm, const Topology& topology);

}  // namespace chorus
