// SPDX-License-Identifier: Apache-2.0
// What the NVML of an old driver lacks.
#include "nvml_double.hpp"

using namespace chorus;

extern "C" nvml::Result nvmlDeviceGetNvLinkRemoteDeviceType(nvml::Device device, unsigned link, int* type) {
  const auto& links = test::nvml_double::links_of(device);
  if (link >= links.size()) return nvml::invalid_argument;
  *type = links[link].type;
  return nvml::success;
}
