// SPDX-License-Identifier: Apache-2.0
#include "topology/nvml.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <array>
#include <memory>

#include "base/shared_object.hpp"
#include "topology/nvml_entries.hpp"

namespace chorus {
namespace {

constexpr const char* nvml_variable = "CHORUS_NVML_LIBRARY";
constexpr unsigned most_links = 64;  // of a GPU; NVML refuses the numbers that it has none for
constexpr unsigned longest_name = 96;

/// NVML, loaded and started.
class Nvml {
 public:
  /// Throws Error{not_supported} where there is none, or it does not start.
  Nvml();
  ~Nvml() { shutdown_(); }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Adds what there is at `bus_id`, if anything.
  void tell(const std::string& bus_id, std::map<std::string, NvmlGpu>& told) const;

 private:
  [[nodiscard]] std::uint64_t link_speed(nvml::Device device) const;
  void add_link(nvml::Device device, unsigned link, std::uint64_t speed, NvmlGpu& gpu) const;

  nvml::Shutdown* shutdown_ = nullptr;
  nvml::DeviceByBusId* device_by_bus_id_ = nullptr;
  nvml::DeviceName* device_name_ = nullptr;
  nvml::DeviceMemory* device_memory_ = nullptr;
  nvml::FieldValues* field_values_ = nullptr;
  nvml::LinkState* link_state_ = nullptr;
  nvml::LinkRemotePciInfo* link_remote_pci_info_ = nullptr;
  nvml::LinkRemoteType* link_remote_type_ = nullptr;  // null where the driver is old
};

Nvml::Nvml() {
  const SharedObject library(SharedObject::file(nvml_variable, "libnvidia-ml.so.1"), nvml_variable,
                             "a description of the GPUs");
  library.find(shutdown_, "nvmlShutdown");
  library.find(device_by_bus_id_, "nvmlDeviceGetHandleByPciBusId_v2");
  library.find(device_name_, "nvmlDeviceGetName");
  library.find(device_memory_, "nvmlDeviceGetMemoryInfo");
  library.find(field_values_, "nvmlDeviceGetFieldValues");
  library.find(link_state_, "nvmlDeviceGetNvLinkState");
  library.find(link_remote_pci_info_, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  library.find_if_there(link_remote_type_, "nvmlDeviceGetNvLinkRemoteDeviceType");
  nvml::Init* init = nullptr;
  library.find(init, "nvmlInit_v2");
  if (init() != nvml::success) throw Error(ErrorCode::not_supported, "NVML does not start");
}

/// As hwloc has it.
std::string bus_id_of(const nvml::PciInfo& at) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", at.domain, at.bus, at.device);
}

/// Of each link; 0 where it is not known.
std::uint64_t Nvml::link_speed(nvml::Device device) const {
  nvml::FieldValue speed{.field = nvml::link_speed_field};
  if (field_values_(device, 1, &speed) != nvml::success || speed.result != nvml::success) return 0;
  return speed.type == nvml::type_unsigned ? std::uint64_t{speed.value.number} * 1'000'000 : 0;
}

void Nvml::add_link(nvml::Device device, unsigned link, std::uint64_t speed, NvmlGpu& gpu) const {
  int state = 0;
  if (link_state_(device, link, &state) != nvml::success || state != nvml::enabled) return;
  int type = nvml::to_gpu;
  if (link_remote_type_ != nullptr && link_remote_type_(device, link, &type) != nvml::success) return;
  if (type == nvml::to_switch) gpu.to_switches += speed;
  if (type != nvml::to_gpu) return;
  nvml::PciInfo remote;
  if (link_remote_pci_info_(device, link, &remote) == nvml::success) gpu.to_gpus[bus_id_of(remote)] += speed;
}

void Nvml::tell(const std::string& bus_id, std::map<std::string, NvmlGpu>& told) const {
  nvml::Device device = nullptr;
  if (device_by_bus_id_(bus_id.c_str(), &device) != nvml::success) return;
  NvmlGpu& gpu = told[bus_id];
  std::array<char, longest_name> name{};
  if (device_name_(device, name.data(), longest_name) == nvml::success) gpu.model = name.data();
  nvml::Memory memory;
  if (device_memory_(device, &memory) == nvml::success) gpu.bytes = memory.total;
  const std::uint64_t speed = link_speed(device);
  for (unsigned link = 0; speed > 0 && link < most_links; ++link) add_link(device, link, speed, gpu);
}

}  // namespace

std::map<std::string, NvmlGpu> ask_nvml(const std::vector<std::string>& bus_ids) {
  std::map<std::string, NvmlGpu> told;
  try {
    const Nvml nvml;
    for (const std::string& bus_id : bus_ids) nvml.tell(bus_id, told);
  } catch (const Error&) {
    return {};
  }
  return told;
}

}  // namespace chorus
