// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace chorus {

/// What NVML, the library for the management of GPUs that comes with NVIDIA's driver, tells of one. Links are NVLinks
/// that are up, their speed one way, in bytes per second.
struct NvmlGpu {
  std::string model;                             ///< "NVIDIA H100 80GB HBM3"; may be empty
  std::uint64_t bytes = 0;                       ///< of its memory; 0 where unknown
  std::map<std::string, std::uint64_t> to_gpus;  ///< of all links to another GPU, by its place on the PCI bus
  std::uint64_t to_switches = 0;                 ///< of all links to NVSwitches
};

/// Loads libnvidia-ml.so.1, or what CHORUS_NVML_LIBRARY names, and asks it for the GPUs at these places on the PCI bus
/// ("0000:3b:00.0"). What it does not know, or withholds from this process, is missing in the result: all of it where
/// there is no NVML, where that does not start, or is too old.
[[nodiscard]] std::map<std::string, NvmlGpu> ask_nvml(const std::vector<std::string>& bus_ids);

}  // namespace chorus
