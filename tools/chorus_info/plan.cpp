// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace chorus::info {
namespace {

using Kind = Topology::Kind;
using Object = Topology::Object;

bool is_device(const Object& object) noexcept { return object.kind == Kind::gpu || object.kind == Kind::network; }

bool is_memory_only(const Object& object) noexcept { return object.kind == Kind::numa && object.children.empty(); }

/// A core, or what a single core has for itself.
bool is_of_one_core(const Object& object, const Topology& topology) {
  const bool small = object.kind == Kind::l2 || object.kind == Kind::l1;
  return object.kind == Kind::core || object.kind == Kind::pu || (small && topology.cores_of(object.pus).count() == 1);
}

/// Whether `inner`, the only part of `outer`, is shown together with it.
bool shown_as_one(const Object& outer, const Object& inner, const Topology& topology) {
  return outer.kind != Kind::machine && is_of_one_core(outer, topology) == is_of_one_core(inner, topology);
}

Spot build(const Object& object, const Topology& topology) {
  Spot spot;
  spot.pus = object.pus;
  spot.forbidden = object.pus & ~topology.allowed;
  for (const Object* at = &object; at != nullptr;) {
    spot.objects.push_back(at);
    std::vector<const Object*> parts;
    for (const Object& child : at->children) {
      if (is_device(child))
        spot.devices.push_back(&child);
      else if (is_memory_only(child))
        spot.memories.push_back(&child);
      else
        parts.push_back(&child);
    }
    const bool one = parts.size() == 1 && shown_as_one(*at, *parts.front(), topology);
    at = one ? parts.front() : nullptr;
    if (one) continue;
    for (const Object* part : parts) spot.children.push_back(build(*part, topology));
  }
  return spot;
}

/// Puts `rank` where its binding fits.
void put(Spot& machine, const RankRecord& record) {
  Spot* at = &machine;
  for (Spot* inner = record.binding.bound ? at : nullptr; inner != nullptr;) {
    at = inner;
    const auto child = std::find_if(at->children.begin(), at->children.end(), [&](const Spot& candidate) {
      return (record.binding.pus & ~candidate.pus).none();
    });
    inner = child == at->children.end() ? nullptr : &*child;
  }
  at->ranks.push_back(record.rank);
}

using RanksOfHosts = std::map<int, int>;

/// Counts the ranks in `spot`, host by host; returns them. `marked` becomes true where an overfull place was found.
RanksOfHosts count_ranks(Spot& spot, const Survey& survey, bool& marked) {
  RanksOfHosts counts;
  for (const int rank : spot.ranks) ++counts[survey.host_of[rank]];
  bool marked_inside = false;
  for (Spot& child : spot.children) {
    for (const auto& [host, ranks] : count_ranks(child, survey, marked_inside)) counts[host] += ranks;
  }
  for (const auto& [host, ranks] : counts) spot.most_ranks = std::max(spot.most_ranks, ranks);
  const auto usable = static_cast<int>((spot.pus & ~spot.forbidden).count());
  spot.overfull = !marked_inside && spot.most_ranks > usable;
  marked = marked || marked_inside || spot.overfull;
  return counts;
}

}  // namespace

bool Spot::is_core() const noexcept {
  return std::any_of(objects.begin(), objects.end(), [](const Object* object) { return object->kind == Kind::core; });
}

bool Spot::is_pu() const noexcept { return objects.front()->kind == Kind::pu; }

Spot plan_of(const Survey& survey, const Machine& machine) {
  Spot plan = build(machine.topology.machine, machine.topology);
  for (const int host : machine.hosts) {
    for (const int rank : survey.hosts[host].ranks) put(plan, survey.ranks[rank]);
  }
  bool marked = false;
  count_ranks(plan, survey, marked);
  return plan;
}

}  // namespace chorus::info
