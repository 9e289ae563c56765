// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/gpu.hpp>

#include <string>
#include <vector>

namespace chorus {

/// The GPUs that this process can use.
struct VisibleGpus {
  std::vector<Gpu> gpus;  ///< by CUDA's numbers
  std::string reason;     ///< why there are none; empty where there are
  bool expected = true;   ///< false where there is no driver, nor CHORUS_CUDA_LIBRARY says that there should be
};

/// Asks CUDA's driver, which applies CUDA_VISIBLE_DEVICES and what the system withholds. Loads it where that has not
/// been done; makes no context.
[[nodiscard]] VisibleGpus visible_gpus();

}  // namespace chorus
