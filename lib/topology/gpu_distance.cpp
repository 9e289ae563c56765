// SPDX-License-Identifier: Apache-2.0
#include "topology/gpu_distance.hpp"

#include <algorithm>
#include <vector>

namespace chorus {
namespace {

using Kind = Topology::Kind;
using Object = Topology::Object;

/// The objects from `object` in to the one that the GPU at `bus_id` hangs at; none where it is not there.
std::vector<const Object*> way_to(const Object& object, std::string_view bus_id) {
  for (const Object& child : object.children) {
    if (child.kind == Kind::gpu && child.bus_id == bus_id) return {&object};
    std::vector<const Object*> way = way_to(child, bus_id);
    if (way.empty()) continue;
    way.insert(way.begin(), &object);
    return way;
  }
  return {};
}

void collect(const Object& object, Kind kind, std::vector<PuSet>& found) {
  if (object.kind == kind && object.pus.any()) found.push_back(object.pus);
  for (const Object& child : object.children) collect(child, kind, found);
}

/// The smallest NUMA domain that holds `pus`, without those that hold packages; no PUs where there is none.
PuSet domain_of(const PuSet& pus, const Topology& topology, const std::vector<PuSet>& packages) {
  std::vector<PuSet> domains;
  collect(topology.machine, Kind::numa, domains);
  std::erase_if(domains, [&](const PuSet& domain) {
    return !is_subset(pus, domain) || std::ranges::any_of(packages, [&](const PuSet& package) {
      return package != domain && is_subset(package, domain);
    });
  });
  const auto smallest = std::ranges::min_element(domains, {}, &PuSet::count);
  return smallest == domains.end() ? PuSet() : *smallest;
}

}  // namespace

const char* text_of(GpuDistance distance) noexcept {
  constexpr const char* texts[] = {"beside it", "same NUMA domain", "same package", "same machine", "place not known"};
  return texts[static_cast<int>(distance)];
}

int cost_of(GpuDistance distance) noexcept { return std::min(static_cast<int>(distance), 3); }

PuSet pus_beside(const Topology& topology, std::string_view bus_id) {
  const std::vector<const Object*> way = way_to(topology.machine, bus_id);
  const auto part = std::find_if(way.rbegin(), way.rend(), [](const Object* each) { return each->pus.any(); });
  return part == way.rend() ? PuSet() : (*part)->pus;
}

GpuDistance gpu_distance(const Topology& topology, std::string_view bus_id, const PuSet& pus) {
  const std::vector<const Object*> way = way_to(topology.machine, bus_id);
  if (way.empty()) return GpuDistance::unknown;
  PuSet common = topology.machine.pus;
  for (const Object* const object : way) {
    if (object->pus.any() && is_subset(pus, object->pus)) common = object->pus;
  }
  std::vector<PuSet> packages;
  collect(topology.machine, Kind::package, packages);
  if (const PuSet domain = domain_of(common, topology, packages); domain.any()) {
    return common == way.back()->pus && common != domain ? GpuDistance::beside : GpuDistance::numa;
  }
  const bool packaged = std::ranges::any_of(packages, [&](const PuSet& part) { return is_subset(common, part); });
  return packaged ? GpuDistance::package : GpuDistance::machine;
}

}  // namespace chorus
