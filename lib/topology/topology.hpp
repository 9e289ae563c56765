// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/binding.hpp"

namespace chorus {

/// One machine as hwloc sees it: a tree of objects, each inside its parent. A plain value.
struct Topology {
  enum class Kind : std::uint8_t { machine, group, package, die, numa, l3, l2, l1, core, pu, gpu, network };

  /// What leads from one GPU to another past the PCI bus (NVLink).
  struct Link {
    int gpu = 0;  ///< its index
    std::uint64_t bytes_per_second = 0;

    friend bool operator==(const Link&, const Link&) = default;
  };

  struct Object {
    Kind kind = Kind::machine;
    int index = 0;            ///< among the machine's objects of this kind, from 0; none twice
    int os_index = -1;        ///< the system's number: unique for a PU or NUMA domain; -1: none
    std::uint64_t bytes = 0;  ///< of a cache, or the memory of a NUMA domain, a GPU or the machine; 0 where unknown
    std::string name;         ///< of a device ("eth0"), processor model of a package; may be empty
    PuSet pus;                ///< in it; none for a device
    // Of a GPU:
    std::string bus_id;       ///< where it is on the PCI bus: "0000:3b:00.0"; may be empty, as may those that follow
    int vendor = 0;           ///< its maker, as PCI numbers them; 0 where unknown
    std::string model;        ///< "NVIDIA H100 80GB HBM3"
    std::vector<Link> links;  ///< to other GPUs
    /// NUMA domains come first, devices last. A NUMA domain whose PUs are exactly its parent's has no children: it
    /// stands beside what it is the memory of. One without PUs has none either.
    std::vector<Object> children;

    friend bool operator==(const Object&, const Object&) = default;
  };

  enum class Devices : std::uint8_t { none, important };

  Object machine;
  PuSet allowed;      ///< the PUs this job may use: a control group or the administrator may withhold others
  bool here = false;  ///< it is the machine that this program runs on

  /// The machine that the program runs on, or what HWLOC_SYNTHETIC, HWLOC_XMLFILE and hwloc's other variables put in
  /// its place. Takes milliseconds, with devices longer.
  /// Throws Error{transport} where hwloc cannot find out.
  [[nodiscard]] static Topology of_this_machine(Devices devices = Devices::none);

  /// The machine that `input` describes: the path of an XML file of hwloc (as `lstopo machine.xml` writes it), or else
  /// a synthetic description, like "pack:2 l3:4 core:8 pu:2".
  /// Throws Error{invalid_argument} where it is neither.
  [[nodiscard]] static Topology described_by(const std::string& input);

  /// The binding of a thread that may run on `pus`, without its quota. What is not allowed is left out; where nothing
  /// remains the thread is taken to run everywhere.
  ///
  /// Levels are nested: where objects of two levels are nested the wrong way round (a NUMA domain with several
  /// packages, an L3 with several NUMA domains), the outer one is no level. Nor is a cache of a single core.
  [[nodiscard]] Binding place(PuSet pus) const;

  /// The smallest part of the machine that holds all of `pus`, which may be none: not a device, nor a NUMA domain
  /// without children.
  [[nodiscard]] const Object& smallest_cover(const PuSet& pus) const;

  /// The first PU of each core that `pus` touches; a PU outside any core is its own core.
  [[nodiscard]] PuSet cores_of(const PuSet& pus) const;
};

/// What PCI calls NVIDIA.
inline constexpr int nvidia = 0x10de;

/// What Topology::of_this_machine gives, without devices, read at the first call.
[[nodiscard]] const Topology& this_machine();

/// The same with devices.
[[nodiscard]] const Topology& this_machine_with_devices();

/// "machine", "group", "package", "die", "NUMA", "L3", "L2", "L1", "core", "PU", "GPU" or "network".
[[nodiscard]] const char* name(Topology::Kind kind) noexcept;

}  // namespace chorus
