// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "topology/nvml_entries.hpp"

// A double of NVML, libchorus_nvml_double.so, for a machine with two GPUs of 80 GB, at 0000:00:06.0 and 0000:00:07.0.
// The environment variable NVML_DOUBLE says what is pretended:
//   none        two NVLinks between the GPUs, one that is down, and one to a GPU that is not in the machine
//   "switch"    18 NVLinks from the first and 16 from the second to a switch
//   "no speed"  as without it, but the links' speed is not told
//   "no second" the second GPU is withheld from this process
//   "no start"  nvmlInit_v2 fails
namespace chorus::test::nvml_double {

struct Link {
  bool up = true;
  int type = nvml::to_gpu;
  unsigned device = 0;  ///< the remote one's number on its bus
};

[[nodiscard]] bool pretends(const char* what);

/// Of a GPU that the double has given, by their numbers.
[[nodiscard]] const std::vector<Link>& links_of(nvml::Device device);

/// How often NVML was started.
[[nodiscard]] int starts();
/// How often it was, without having been shut down again.
[[nodiscard]] int running();

}  // namespace chorus::test::nvml_double
