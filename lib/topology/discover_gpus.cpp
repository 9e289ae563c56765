// SPDX-License-Identifier: Apache-2.0
// What hwloc knows of GPUs, and what NVML adds. Memory, model and links come from hwloc's CUDA and NVML components,
// which distributions often leave out (Debian's hwloc 2.9 does): then the bus and the name in the list of PCI devices
// are all that hwloc has. Links are seen through switches since hwloc 2.5.
#include "topology/discover_gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topology/nvml.hpp"

namespace chorus {
namespace {

using Object = Topology::Object;

constexpr const char* memory_keys[] = {"CUDAGlobalMemorySize", "OpenCLGlobalMemorySize"};  // in KiB

std::string bus_id_of(hwloc_obj_t pci) {
  const auto& at = pci->attr->pcidev;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", +at.domain, +at.bus, +at.dev, +at.func);
}

std::uint64_t kibibytes(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number * 1024;
}

/// The GPUs in `object` by their places on the PCI bus.
void collect(Object& object, std::map<std::string, Object*>& gpus) {
  if (object.kind == Topology::Kind::gpu && !object.bus_id.empty()) gpus[object.bus_id] = &object;
  for (Object& child : object.children) collect(child, gpus);
}

std::map<std::string, Object*> gpus_of(Object& machine) {
  std::map<std::string, Object*> gpus;
  collect(machine, gpus);
  return gpus;
}

/// The GPU that an entry of hwloc's matrix stands for; null where that is something else, as a switch.
Object* gpu_of(hwloc_obj_t entry, const std::map<std::string, Object*>& gpus) {
  while (entry != nullptr && entry->type != HWLOC_OBJ_PCI_DEVICE) entry = entry->parent;
  if (entry == nullptr) return nullptr;
  const auto found = gpus.find(bus_id_of(entry));
  return found == gpus.end() ? nullptr : found->second;
}

void add_links(const hwloc_distances_s& matrix, const std::map<std::string, Object*>& gpus) {
  for (std::size_t from = 0; from < matrix.nbobjs; ++from) {
    Object* const gpu = gpu_of(matrix.objs[from], gpus);
    for (std::size_t to = 0; gpu != nullptr && to < matrix.nbobjs; ++to) {
      const Object* const peer = gpu_of(matrix.objs[to], gpus);
      const std::uint64_t megabytes = matrix.values[from * matrix.nbobjs + to];
      if (peer == nullptr || peer == gpu || megabytes == 0) continue;
      gpu->links.push_back({.gpu = peer->index, .bytes_per_second = megabytes * 1'000'000});
    }
  }
}

bool is_known(const Object& gpu) { return gpu.bytes > 0 && !gpu.links.empty(); }

/// What leads from one GPU to the one at `bus_id`. Switches connect all that is linked with them.
std::uint64_t bytes_per_second(const NvmlGpu& from, const std::string& bus_id, const NvmlGpu& to) {
  const auto direct = from.to_gpus.find(bus_id);
  return (direct == from.to_gpus.end() ? 0 : direct->second) + std::min(from.to_switches, to.to_switches);
}

/// Links the GPU at `bus_id` as NVML does.
void add_links(const std::string& bus_id, const std::map<std::string, NvmlGpu>& told,
               const std::map<std::string, Object*>& gpus) {
  for (const auto& [peer_id, peer] : told) {
    const std::uint64_t speed = peer_id == bus_id ? 0 : bytes_per_second(told.at(bus_id), peer_id, peer);
    if (speed == 0) continue;
    gpus.at(bus_id)->links.push_back({.gpu = gpus.at(peer_id)->index, .bytes_per_second = speed});
  }
}

}  // namespace

std::string_view info_of(hwloc_obj_t object, const char* key) {
  const char* const value = hwloc_obj_get_info_by_name(object, key);
  return value != nullptr ? value : std::string_view();
}

void describe_gpu(hwloc_obj_t pci, Object& gpu) {
  gpu.bus_id = bus_id_of(pci);
  gpu.vendor = pci->attr->pcidev.vendor_id;
  gpu.model = info_of(pci, "PCIDevice");
  for (hwloc_obj_t part = pci->io_first_child; part != nullptr; part = part->next_sibling) {
    if (const std::string_view model = info_of(part, "GPUModel"); !model.empty()) gpu.model = model;
    for (const char* const key : memory_keys) {
      if (const std::string_view size = info_of(part, key); gpu.bytes == 0 && !size.empty())
        gpu.bytes = kibibytes(size);
    }
  }
}

void link_gpus(hwloc_topology_t source, Object& machine) {
  hwloc_distances_s* matrix = nullptr;
  unsigned found = 1;
  if (hwloc_distances_get_by_name(source, "NVLinkBandwidth", &found, &matrix, 0) != 0 || found == 0) return;
#if HWLOC_API_VERSION >= 0x00020500
  // The first fails where there is no switch; the second would then forget the links there are.
  if (hwloc_distances_transform(source, matrix, HWLOC_DISTANCES_TRANSFORM_MERGE_SWITCH_PORTS, nullptr, 0) == 0) {
    hwloc_distances_transform(source, matrix, HWLOC_DISTANCES_TRANSFORM_TRANSITIVE_CLOSURE, nullptr, 0);
  }
#endif
  add_links(*matrix, gpus_of(machine));
  hwloc_distances_release(source, matrix);
}

void ask_nvml_for_the_rest(Object& machine) {
  std::map<std::string, Object*> gpus = gpus_of(machine);
  std::erase_if(gpus, [](const auto& gpu) { return gpu.second->vendor != nvidia; });
  if (std::ranges::all_of(gpus, [](const auto& gpu) { return is_known(*gpu.second); })) return;
  std::vector<std::string> bus_ids;
  bus_ids.reserve(gpus.size());
  for (const auto& [bus_id, gpu] : gpus) bus_ids.push_back(bus_id);
  const std::map<std::string, NvmlGpu> told = ask_nvml(bus_ids);
  for (const auto& [bus_id, facts] : told) {
    Object& gpu = *gpus.at(bus_id);
    if (gpu.bytes == 0) {
      gpu.bytes = facts.bytes;
      if (!facts.model.empty()) gpu.model = facts.model;
    }
    if (gpu.links.empty()) add_links(bus_id, told, gpus);
  }
}

}  // namespace chorus
