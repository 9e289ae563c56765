// SPDX-License-Identifier: Apache-2.0
#include "topology/devices.hpp"

#include "topology/gpu_distance.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace chorus {
namespace {

using Object = Topology::Object;

constexpr Device::Kind kinds[] = {Device::Kind::numa, Device::Kind::cpu};

constexpr std::string_view gpu_names = "/gpu:";

constexpr std::string_view word(Device::Kind kind) noexcept {
  constexpr std::string_view words[] = {"cpu", "numa", "gpu"};
  return words[static_cast<int>(kind)];
}

/// A part of the machine that is a device if the process may use it.
struct Part {
  int index = 0;
  PuSet pus;
};

void add_cores(const Object& object, std::vector<Part>& cores) {
  if (object.kind == Topology::Kind::core || object.kind == Topology::Kind::pu) {  // a PU outside any core is one
    cores.push_back({static_cast<int>(cores.size()), object.pus});
    return;
  }
  for (const Object& child : object.children) add_cores(child, cores);
}

void add_domains(const Object& object, std::vector<Part>& domains) {
  if (object.kind == Topology::Kind::numa && object.pus.any()) domains.push_back({object.index, object.pus});
  for (const Object& child : object.children) add_domains(child, domains);
}

/// True where `other`, and not `domain`, tells where its cores are.
bool stands_for(const Part& other, const Part& domain) {
  if (other.pus == domain.pus) return other.index < domain.index;
  return (other.pus & ~domain.pus).none();
}

std::vector<Part> parts_of(const Topology& topology, Device::Kind kind) {
  std::vector<Part> parts;
  if (kind == Device::Kind::cpu) {
    add_cores(topology.machine, parts);
    return parts;
  }
  add_domains(topology.machine, parts);
  const std::vector<Part> all = parts;
  std::erase_if(parts, [&](const Part& domain) {
    return std::ranges::any_of(all, [&](const Part& other) { return stands_for(other, domain); });
  });
  return parts;
}

/// "/cpu:0-3,8", of devices in the order of their indices.
std::string names_of(const std::vector<Device>& devices) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < devices.size(); first = last + 1) {
    last = first;
    while (last + 1 < devices.size() && devices[last + 1].index() == devices[last].index() + 1) ++last;
    text += first == 0 ? devices[0].name() : fmt::format(",{}", devices[first].index());
    if (last > first) text += fmt::format("-{}", devices[last].index());
  }
  return text;
}

/// The index in `name`, where it is a name of that kind.
std::optional<int> index_in(std::string_view name, Device::Kind kind) {
  const std::string start = fmt::format("/{}:", word(kind));
  if (!name.starts_with(start)) return std::nullopt;
  const std::string_view digits = name.substr(start.size());
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size() || index < 0) return std::nullopt;
  return index;
}

/// Those of `pus` that are allowed on `topology`; where none is, all that are.
PuSet usable_of(const Topology& topology, const PuSet& pus) {
  const PuSet usable = pus & topology.allowed;
  return usable.any() ? usable : topology.allowed;
}

std::vector<int> numbers_of(const PuSet& pus) {
  std::vector<int> numbers;
  for (int pu = 0; pu < max_pus; ++pu) {
    if (pus[static_cast<std::size_t>(pu)]) numbers.push_back(pu);
  }
  return numbers;
}

}  // namespace

const PuSet& usable_pus() {
  static const PuSet pus = this_machine().here ? affinity_of_process() : this_machine().allowed;
  return pus;
}

std::vector<Device> devices_of(const Topology& topology, Device::Kind kind, const PuSet& pus) {
  const PuSet usable = usable_of(topology, pus);
  std::vector<Device> devices;
  for (const Part& part : parts_of(topology, kind)) {
    const PuSet of_part = part.pus & usable;
    if (of_part.any()) devices.emplace_back(kind, part.index, numbers_of(of_part));
  }
  return devices;
}

Device gpu_device(const Gpu& gpu, const Topology& topology, const PuSet& pus) {
  const PuSet usable = usable_of(topology, pus);
  const PuSet beside = pus_beside(topology, gpu.bus_id) & usable;
  return {Device::Kind::gpu, gpu.ordinal, numbers_of(beside.any() ? beside : usable)};
}

std::vector<Device> local_devices(const Topology& topology, const PuSet& pus) {
  std::vector<Device> domains = devices_of(topology, Device::Kind::numa, pus);
  return domains.size() >= 2 ? domains : devices_of(topology, Device::Kind::cpu, pus);
}

std::vector<Device> shared_devices(int number, const Topology& topology, const PuSet& pus) {
  if (number < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("shared_devices: argument number is {}: ask for 1 device or more", number));
  }
  std::vector<int> all;
  for (const Device& device : local_devices(topology, pus)) {
    all.insert(all.end(), device.pus().begin(), device.pus().end());
  }
  std::vector<Device> devices;
  for (int index = 0; index < number; ++index) devices.emplace_back(Device::Kind::cpu, index, all);
  return devices;
}

Device parse_device(std::string_view name, const Topology& topology, const PuSet& pus) {
  std::string possible;
  for (const Device::Kind kind : kinds) {
    const std::vector<Device> devices = devices_of(topology, kind, pus);
    const auto found = std::ranges::find(devices, index_in(name, kind), &Device::index);
    if (found != devices.end()) return *found;
    if (!possible.empty() && !devices.empty()) possible += " and ";
    possible += names_of(devices);
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Device::parse: argument name is \"{}\"; here it may be one of {}", name, possible));
}

std::string listed(const std::vector<int>& pus) {
  std::string text;
  for (const int pu : pus) text += (text.empty() ? "" : ", ") + std::to_string(pu);
  return text;
}

Device::Device(Kind kind, int index, std::vector<int> pus) : kind_(kind), index_(index), pus_(std::move(pus)) {
  std::ranges::sort(pus_);
  if (index_ >= 0 && !pus_.empty() && pus_.front() >= 0) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Device: {} with index {} and PUs {}; a device has one PU or more, and nothing is negative",
                          word(kind), index, listed(pus_)));
}

Device Device::parse(std::string_view name) {
  if (!name.starts_with(gpu_names)) return parse_device(name, this_machine(), usable_pus());
  const std::vector<Device> devices = gpu_devices();
  const auto found = std::ranges::find(devices, index_in(name, Kind::gpu), &Device::index);
  if (found != devices.end()) return *found;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("Device::parse: argument name is \"{}\"; of GPUs it may be one of {}", name, names_of(devices)));
}

std::string Device::name() const { return fmt::format("/{}:{}", word(kind_), index_); }

std::vector<Device> local_devices() { return local_devices(this_machine(), usable_pus()); }

std::vector<Device> shared_devices(int number) { return shared_devices(number, this_machine(), usable_pus()); }

}  // namespace chorus
