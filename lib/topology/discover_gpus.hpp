// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwloc.h>

#include <string_view>

#include "topology/topology.hpp"

namespace chorus {

/// What hwloc tells of `object` under `key`, as long as its topology lives; empty: nothing.
[[nodiscard]] std::string_view info_of(hwloc_obj_t object, const char* key);

/// Adds to `gpu`, which is the PCI device `pci`, what hwloc tells about it.
void describe_gpu(hwloc_obj_t pci, Topology::Object& gpu);

/// Adds to the GPUs in `machine`, which are numbered, the links between them. With a switch in between they count as
/// linked, with what leads from one to the switch.
void link_gpus(hwloc_topology_t source, Topology::Object& machine);

/// Adds to NVIDIA's GPUs in `machine`, which are numbered and in this computer, what hwloc has not told of them and
/// NVML does: model, memory and links. Where hwloc has told it all, NVML is not loaded; where there is none, nothing is
/// added.
void ask_nvml_for_the_rest(Topology::Object& machine);

}  // namespace chorus
