// SPDX-License-Identifier: Apache-2.0
// What the double pretends, and the functions that none of them lacks.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "nvml_double.hpp"

namespace chorus::test::nvml_double {
namespace {

constexpr unsigned first_device = 6, second_device = 7, absent_device = 9, switch_device = 16;
constexpr unsigned link_speed_mb = 25'000;
constexpr nvml::Result uninitialized = 1;

int started = 0, ended = 0;

}  // namespace

bool pretends(const char* what) {
  const char* const pretence = std::getenv("NVML_DOUBLE");
  return pretence != nullptr && std::string_view(pretence) == what;
}

/// A GPU's handle is its number on the bus.
nvml::Device handle(unsigned device) { return reinterpret_cast<nvml::Device>(std::size_t{device}); }

const std::vector<Link>& links_of(nvml::Device device) {
  const auto direct = [](unsigned peer) {
    return std::vector<Link>{
        {.device = peer}, {.up = false, .device = peer}, {.device = absent_device}, {.device = peer}};
  };
  const auto switched = [](std::size_t links) {
    return std::vector<Link>(links, {.type = nvml::to_switch, .device = switch_device});
  };
  static const std::vector<Link> first = direct(second_device), second = direct(first_device);
  static const std::vector<Link> first_switched = switched(18), second_switched = switched(16);
  if (pretends("switch")) return device == handle(first_device) ? first_switched : second_switched;
  return device == handle(first_device) ? first : second;
}

int starts() { return started; }
int running() { return started - ended; }

extern "C" {

nvml::Result nvmlInit_v2() {
  if (pretends("no start")) return uninitialized;
  ++started;
  return nvml::success;
}

nvml::Result nvmlShutdown() {
  ++ended;
  return nvml::success;
}

nvml::Result nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvml::Device* device) {
  const std::string_view at = bus_id;
  if (running() == 0) return uninitialized;
  if (at == "0000:00:06.0") {
    *device = handle(first_device);
  } else if (at == "0000:00:07.0" && !pretends("no second")) {
    *device = handle(second_device);
  } else {
    return nvml::not_found;
  }
  return nvml::success;
}

nvml::Result nvmlDeviceGetName(nvml::Device /*device*/, char* name, unsigned length) {
  constexpr std::string_view model = "NVIDIA H100 80GB HBM3";
  if (length <= model.size()) return nvml::invalid_argument;
  name[model.copy(name, model.size())] = '\0';
  return nvml::success;
}

nvml::Result nvmlDeviceGetFieldValues(nvml::Device /*device*/, int count, nvml::FieldValue* values) {
  for (int at = 0; at < count; ++at) {
    const bool known = values[at].field == nvml::link_speed_field && !pretends("no speed");
    values[at].result = known ? nvml::success : nvml::not_supported;
    if (!known) continue;
    values[at].type = nvml::type_unsigned;
    values[at].value.number = link_speed_mb;
  }
  return nvml::success;
}

nvml::Result nvmlDeviceGetNvLinkState(nvml::Device device, unsigned link, int* state) {
  const std::vector<Link>& links = links_of(device);
  if (link >= links.size()) return nvml::invalid_argument;
  *state = links[link].up ? nvml::enabled : 0;
  return nvml::success;
}

nvml::Result nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml::Device device, unsigned link, nvml::PciInfo* remote) {
  const std::vector<Link>& links = links_of(device);
  if (link >= links.size()) return nvml::invalid_argument;
  *remote = {.device = links[link].device};
  return nvml::success;
}

}  // extern "C"

}  // namespace chorus::test::nvml_double
