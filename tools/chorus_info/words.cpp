// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "pu_list.hpp"

namespace chorus::info {
namespace {

using Kind = Topology::Kind;
using Object = Topology::Object;

std::size_t count(const Spot& spot, Kind kind) {
  std::size_t found = 0;
  for (const Object* object : spot.objects) found += object->kind == kind ? 1 : 0;
  for (const Spot& child : spot.children) found += count(child, kind);
  return found;
}

std::string name_of(const Object& object) {
  constexpr const char* titles[] = {"Machine", "Group", "Package", "Die", "NUMA", "L3",
                                    "L2",      "L1",    "Core",    "PU",  "GPU",  "network"};
  if (object.kind == Kind::machine) return "Machine";
  const bool by_system = object.kind == Kind::pu || object.kind == Kind::numa;
  return fmt::format("{} {}", titles[static_cast<int>(object.kind)], by_system ? object.os_index : object.index);
}

std::string memory_of(const Object& numa) {
  return numa.bytes > 0 ? fmt::format("{}, {}", name_of(numa), readable_bytes(numa.bytes)) : name_of(numa);
}

/// "L2 1 MB, L1 32 KB": the caches a core has for itself.
std::string caches_of_core(const Spot& core) {
  std::vector<std::string> caches;
  for (const Object* object : core.objects) {
    if (object->kind != Kind::core && object->kind != Kind::pu && object->bytes > 0) {
      caches.push_back(fmt::format("{} {}", name(object->kind), readable_bytes(object->bytes)));
    }
  }
  return joined(caches, ", ");
}

void collect_cores(const Spot& spot, std::vector<const Spot*>& cores) {
  if (spot.is_core()) cores.push_back(&spot);
  for (const Spot& child : spot.children) collect_cores(child, cores);
}

/// What all cores have; empty where they differ.
std::string caches_of_every_core(const Spot& machine) {
  std::vector<const Spot*> cores;
  collect_cores(machine, cores);
  if (cores.empty()) return "";
  std::string first = caches_of_core(*cores.front());
  const bool same =
      std::all_of(cores.begin(), cores.end(), [&](const Spot* core) { return caches_of_core(*core) == first; });
  return same ? first : "";
}

std::string in_brackets(const std::vector<std::string>& parts) {
  return parts.empty() ? "" : fmt::format(" ({})", joined(parts, "; "));
}

std::string label_of_core(const Spot& spot) {
  const auto core = std::find_if(spot.objects.begin(), spot.objects.end(),
                                 [](const Object* object) { return object->kind == Kind::core; });
  return fmt::format("{} (PU {})", name_of(**core), readable(spot.pus));
}

}  // namespace

std::string readable_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(units)) {
    amount /= 1024;
    ++unit;
  }
  // One digit after the point where it says something.
  std::string number = fmt::format("{:.{}f}", amount, amount < 100 ? 1 : 0);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return fmt::format("{} {}", number, units[unit]);
}

std::string counted(std::size_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

std::string host_names(const Survey& survey, const Machine& machine) {
  if (machine.hosts.empty()) return survey.title;
  constexpr std::size_t shown = 8;
  std::vector<std::string> names;
  for (const int host : machine.hosts) {
    if (names.size() < shown) names.push_back(survey.hosts[host].name);
  }
  if (machine.hosts.size() > shown) names.push_back(fmt::format("and {} more", machine.hosts.size() - shown));
  return joined(names, " ");
}

std::string summary_of(const Spot& machine) {
  std::vector<std::string> parts;
  const auto packages = count(machine, Kind::package), cores = count(machine, Kind::core);
  if (packages > 0) parts.push_back(counted(packages, "package"));
  if (cores > 0) parts.push_back(counted(cores, "core"));
  parts.push_back(counted(machine.pus.count(), "PU"));
  const Object& object = *machine.objects.front();
  if (object.bytes > 0) parts.push_back(readable_bytes(object.bytes));
  const std::string caches = caches_of_every_core(machine);
  return fmt::format("{}{}{}", joined(parts, ", "), caches.empty() ? "" : "; each core: ", caches);
}

std::string label(const Spot& spot) {
  if (spot.is_core()) return label_of_core(spot);
  std::vector<std::string> names, details;
  for (const Object* object : spot.objects) {
    names.push_back(name_of(*object));
    if (object->kind != Kind::machine && object->bytes > 0) details.push_back(readable_bytes(object->bytes));
    if (!object->name.empty()) details.push_back(object->name);
  }
  for (const Object* memory : spot.memories) details.push_back(memory_of(*memory));
  return joined(names, " + ") + in_brackets(details);
}

std::string devices(const Spot& spot) {
  std::string text;
  for (const Kind kind : {Kind::gpu, Kind::network}) {
    bool first = true;
    for (const Object* device : spot.devices) {
      if (device->kind != kind) continue;
      if (first) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(kind));
      text += " " + (device->name.empty() ? std::to_string(device->index) : device->name);
      first = false;
    }
  }
  return text;
}

std::string divisions(const Survey& survey) {
  std::vector<std::string> parts;
  for (const Split& split : survey.hierarchy().splits) {
    parts.push_back(fmt::format("by {} into {}", name(split.level), split.groups.size()));
  }
  return parts.empty() ? "" : fmt::format("divided {}", joined(parts, ", "));
}

std::string summary_of(const Survey& survey) {
  if (survey.ranks.empty()) return "";
  std::size_t allowed = 0, crowded = 0;
  std::string crowding;
  for (std::size_t host = 0; host < survey.hosts.size(); ++host) {
    const HostCores cores = cores_of(survey, static_cast<int>(host));
    const std::size_t ranks = survey.hosts[host].ranks.size();
    allowed += static_cast<std::size_t>(cores.allowed);
    if (static_cast<int>(ranks) <= cores.available) continue;
    if (crowded++ > 0) continue;
    const std::string where = survey.hosts.size() > 1 ? " of " + survey.hosts[host].name : "";
    crowding = fmt::format("; oversubscribed: {} on {}{}", counted(ranks, "rank"),
                           counted(static_cast<std::size_t>(cores.available), "core"), where);
  }
  if (crowded > 1) crowding += fmt::format(" and {} more", counted(crowded - 1, "host"));
  return fmt::format("{}, {}, {} allowed{}", counted(survey.ranks.size(), "rank"), counted(survey.hosts.size(), "host"),
                     counted(allowed, "core"), crowding);
}

}  // namespace chorus::info
