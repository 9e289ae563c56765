// SPDX-License-Identifier: Apache-2.0
// hwloc's tree becomes a Topology; what it knows of GPUs is in discover_gpus.cpp.
//
// hwloc keeps memory and devices beside its tree of processors. Here there is one tree. Where hwloc has made a group
// for no other purpose than to hold the PUs of one NUMA domain, the domain takes the group's place.
#include <chorus/error.hpp>

#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "topology/discover_gpus.hpp"
#include "topology/topology.hpp"

namespace chorus {
namespace {

using Kind = Topology::Kind;
using Object = Topology::Object;

using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, decltype(&hwloc_topology_destroy)>;

Handle new_handle(Topology::Devices devices) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw std::bad_alloc();
  Handle handle(raw, &hwloc_topology_destroy);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (devices == Topology::Devices::important) {
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  }
  for (const auto unused : {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_MEMCACHE}) {
    hwloc_topology_set_type_filter(raw, unused, HWLOC_TYPE_FILTER_KEEP_NONE);
  }
  return handle;
}

PuSet pus_of(hwloc_const_cpuset_t cpuset) {
  PuSet pus;
  if (cpuset == nullptr) return pus;
  for (int pu = hwloc_bitmap_first(cpuset); pu >= 0 && pu < max_pus; pu = hwloc_bitmap_next(cpuset, pu)) pus.set(pu);
  return pus;
}

Kind kind_of(hwloc_obj_t object) {
  switch (object->type) {
    case HWLOC_OBJ_MACHINE:
      return Kind::machine;
    case HWLOC_OBJ_PACKAGE:
      return Kind::package;
    case HWLOC_OBJ_DIE:
      return Kind::die;
    case HWLOC_OBJ_NUMANODE:
      return Kind::numa;
    case HWLOC_OBJ_L3CACHE:
      return Kind::l3;
    case HWLOC_OBJ_L2CACHE:
      return Kind::l2;
    case HWLOC_OBJ_L1CACHE:
      return Kind::l1;
    case HWLOC_OBJ_CORE:
      return Kind::core;
    case HWLOC_OBJ_PU:
      return Kind::pu;
    default:
      return Kind::group;
  }
}

Object without_children(hwloc_obj_t object) {
  Object result;
  result.kind = kind_of(object);
  result.index = static_cast<int>(object->logical_index);
  if (object->os_index != HWLOC_UNKNOWN_INDEX) result.os_index = static_cast<int>(object->os_index);
  if (hwloc_obj_type_is_cache(object->type) != 0) result.bytes = object->attr->cache.size;
  if (object->type == HWLOC_OBJ_NUMANODE) result.bytes = object->attr->numanode.local_memory;
  if (object->type == HWLOC_OBJ_MACHINE) result.bytes = object->total_memory;
  if (object->type == HWLOC_OBJ_PACKAGE) result.name = info_of(object, "CPUModel");
  result.pus = pus_of(object->cpuset);
  return result;
}

bool is_display(hwloc_obj_t pci) { return pci->attr->pcidev.class_id >> 8U == 0x03; }

/// Whether a display device is a processor too, and not merely the console of a server.
bool computes(hwloc_obj_t display) {
  constexpr unsigned makers[] = {0x10de, 0x1002, 0x8086};  // NVIDIA, AMD, Intel
  return std::find(std::begin(makers), std::end(makers), display->attr->pcidev.vendor_id) != std::end(makers);
}

/// The system's device as an object, if it is of a kind that is shown.
std::optional<Object> system_device(hwloc_obj_t device) {
  Object result;
  switch (device->attr->osdev.type) {
    case HWLOC_OBJ_OSDEV_GPU:
    case HWLOC_OBJ_OSDEV_COPROC:
      result.kind = Kind::gpu;
      break;
    case HWLOC_OBJ_OSDEV_NETWORK:
    case HWLOC_OBJ_OSDEV_OPENFABRICS:
      result.kind = Kind::network;
      break;
    default:
      return std::nullopt;
  }
  result.name = device->name != nullptr ? device->name : "";
  return result;
}

/// One PCI device can have several names in the system (cuda0, nvml0, card0): the one that programs use most.
int preference(const std::string& name) {
  constexpr std::string_view preferred[] = {"cuda", "rsmi", "ze", "opencl", "nvml", "card", "mlx", "hfi"};
  const auto* const at = std::find_if(std::begin(preferred), std::end(preferred),
                                      [&](std::string_view prefix) { return name.starts_with(prefix); });
  return static_cast<int>(at - std::begin(preferred));
}

/// Adds at most one entry for a PCI device, whatever the number of its names in the system.
void add_pci_device(hwloc_obj_t pci, Object& parent) {
  if (is_display(pci) && !computes(pci)) return;
  std::optional<Object> best;
  for (hwloc_obj_t child = pci->io_first_child; child != nullptr; child = child->next_sibling) {
    auto found = system_device(child);
    if (found && (!best || preference(found->name) < preference(best->name))) best = std::move(found);
  }
  if (!best && is_display(pci)) {  // without a driver
    best.emplace();
    best->kind = Kind::gpu;
    best->name = info_of(pci, "PCIDevice");
  }
  if (!best) return;
  if (best->kind == Kind::gpu) describe_gpu(pci, *best);
  parent.children.push_back(std::move(*best));
}

/// Adds what is behind `device`, an object of hwloc's tree of devices, to `parent`.
void add_devices(hwloc_obj_t device, Object& parent) {
  if (device->type == HWLOC_OBJ_PCI_DEVICE) return add_pci_device(device, parent);
  if (device->type == HWLOC_OBJ_OS_DEVICE) {
    if (auto found = system_device(device)) parent.children.push_back(std::move(*found));
    return;
  }
  for (hwloc_obj_t child = device->io_first_child; child != nullptr; child = child->next_sibling) {
    add_devices(child, parent);
  }
}

Object convert(hwloc_obj_t object) {
  Object result = without_children(object);
  if (object->type == HWLOC_OBJ_GROUP && object->memory_arity == 1) {
    result = without_children(object->memory_first_child);
    result.pus = pus_of(object->cpuset);
  } else {
    for (hwloc_obj_t memory = object->memory_first_child; memory != nullptr; memory = memory->next_sibling) {
      result.children.push_back(without_children(memory));
    }
  }
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    Object converted = convert(child);
    if (converted.pus.any()) result.children.push_back(std::move(converted));
  }
  for (hwloc_obj_t device = object->io_first_child; device != nullptr; device = device->next_sibling) {
    add_devices(device, result);
  }
  return result;
}

/// Numbers the devices of a kind, in the order of the tree.
void number(Object& object, Kind kind, int& next) {
  if (object.kind == kind) object.index = next++;
  for (Object& child : object.children) number(child, kind, next);
}

Topology convert(const Handle& handle) {
  Topology topology;
  topology.machine = convert(hwloc_get_root_obj(handle.get()));
  for (const Kind kind : {Kind::gpu, Kind::network}) {
    int next = 0;
    number(topology.machine, kind, next);
  }
  link_gpus(handle.get(), topology.machine);
  topology.allowed = pus_of(hwloc_topology_get_allowed_cpuset(handle.get()));
  topology.here = hwloc_topology_is_thissystem(handle.get()) != 0;
  if (topology.here) ask_nvml_for_the_rest(topology.machine);
  return topology;
}

[[noreturn]] void refuse(const std::string& input, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              "Topology::described_by: input \"" + input + "\": " + why +
                  "; give an XML file written by `lstopo machine.xml`, or a description like "
                  "\"pack:2 l3:4 core:8 pu:2\"");
}

bool names_a_file(const std::string& input) {
  std::error_code error;
  return input.ends_with(".xml") || input.find('/') != std::string::npos || std::filesystem::exists(input, error);
}

}  // namespace

Topology Topology::of_this_machine(Devices devices) {
  const Handle handle = new_handle(devices);
  if (hwloc_topology_load(handle.get()) != 0) {
    throw Error(ErrorCode::transport, std::string("Topology::of_this_machine: hwloc cannot read this machine (") +
                                          std::strerror(errno) + "); see whether `lstopo` can");
  }
  return convert(handle);
}

const Topology& this_machine() {
  static const Topology topology = Topology::of_this_machine();
  return topology;
}

const Topology& this_machine_with_devices() {
  static const Topology topology = Topology::of_this_machine(Topology::Devices::important);
  return topology;
}

Topology Topology::described_by(const std::string& input) {
  const Handle handle = new_handle(Devices::important);
  if (names_a_file(input)) {
    std::error_code error;
    if (std::filesystem::is_directory(input, error)) refuse(input, "is a directory");
    if (hwloc_topology_set_xml(handle.get(), input.c_str()) != 0) {
      refuse(input, errno == EINVAL ? "is no XML of hwloc" : std::strerror(errno));
    }
    if (hwloc_topology_load(handle.get()) != 0) refuse(input, "is no XML of hwloc");
  } else if (hwloc_topology_set_synthetic(handle.get(), input.c_str()) != 0 || hwloc_topology_load(handle.get()) != 0) {
    refuse(input, "no such file, and no synthetic description that hwloc understands");
  }
  Topology topology = convert(handle);
  if (topology.allowed.none()) refuse(input, "describes a machine without processing units");
  return topology;
}

}  // namespace chorus
