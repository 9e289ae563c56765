// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.hpp"

#include <cstddef>
#include <optional>

namespace chorus {
namespace {

using Kind = Topology::Kind;
using Object = Topology::Object;

bool is_memory_only(const Object& object) noexcept { return object.kind == Kind::numa && object.children.empty(); }

bool covers(const Object& object, const PuSet& pus) noexcept { return object.pus.any() && is_subset(pus, object.pus); }

/// Adds to `cores` the first PU of each core below `object` that `pus` touches.
void add_cores(const Object& object, const PuSet& pus, PuSet& cores) {
  if ((object.pus & pus).none() || is_memory_only(object)) return;
  if (object.kind != Kind::core && object.kind != Kind::pu) {
    for (const Object& child : object.children) add_cores(child, pus, cores);
    return;
  }
  std::size_t first = 0;
  while (!object.pus[first]) ++first;
  cores.set(first);
}

std::optional<Level> level_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::package:
      return Level::package;
    case Kind::numa:
      return Level::numa;
    case Kind::l3:
      return Level::l3;
    case Kind::l2:
      return Level::l2;
    default:
      return std::nullopt;
  }
}

/// Takes note of the objects that cover a binding, from the outside in.
class Levels {
 public:
  explicit Levels(Binding& binding) : binding_(&binding) {}

  void add(const Object& object, const Topology& topology) {
    const auto level = level_of(object.kind);
    if (!level) return;
    const bool cache = *level > Level::numa;
    if (cache && topology.cores_of(object.pus).count() < 2) return;
    const auto at = static_cast<std::size_t>(*level) - 1;
    // What was found outside this object and yet belongs inside its level is nested the wrong way round.
    for (std::size_t inner = at + 1; inner < binding_->objects.size(); ++inner) {
      if (pus_[inner] != object.pus) binding_->objects[inner] = -1;
    }
    if (binding_->objects[at] >= 0 && pus_[at] == object.pus) return;  // several memories of the same cores
    binding_->objects[at] = static_cast<std::int16_t>(object.index);
    pus_[at] = object.pus;
  }

 private:
  Binding* binding_;
  std::array<PuSet, level_count - 1> pus_;
};

}  // namespace

const char* name(Topology::Kind kind) noexcept {
  constexpr const char* names[] = {"machine", "group", "package", "die", "NUMA", "L3",
                                   "L2",      "L1",    "core",    "PU",  "GPU",  "network"};
  return names[static_cast<int>(kind)];
}

PuSet Topology::cores_of(const PuSet& pus) const {
  PuSet cores;
  add_cores(machine, pus, cores);
  return cores;
}

const Object& Topology::smallest_cover(const PuSet& pus) const {
  const Object* cover = &machine;
  for (const Object* inner = cover; inner != nullptr;) {
    cover = inner;
    inner = nullptr;
    for (const Object& child : cover->children) {
      if (!is_memory_only(child) && covers(child, pus)) inner = &child;
    }
  }
  return *cover;
}

Binding Topology::place(PuSet pus) const {
  pus &= allowed;
  if (pus.none()) pus = allowed;
  Binding binding;
  binding.pus = pus;
  binding.cores = cores_of(pus);
  binding.bound = pus != allowed;
  Levels levels(binding);
  for (const Object* cover = &machine; cover != nullptr;) {
    levels.add(*cover, *this);
    const Object* inner = nullptr;
    for (const Object& child : cover->children) {
      if (!covers(child, pus)) continue;
      if (is_memory_only(child))
        levels.add(child, *this);
      else
        inner = &child;
    }
    cover = inner;
  }
  return binding;
}

}  // namespace chorus
