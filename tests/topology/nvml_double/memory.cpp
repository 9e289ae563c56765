// SPDX-License-Identifier: Apache-2.0
// What every NVML has, and a double may lack.
#include "nvml_double.hpp"

using namespace chorus;

extern "C" nvml::Result nvmlDeviceGetMemoryInfo(nvml::Device /*device*/, nvml::Memory* memory) {
  *memory = {.total = 80ULL << 30U, .free = 79ULL << 30U, .used = 1ULL << 30U};
  return nvml::success;
}
