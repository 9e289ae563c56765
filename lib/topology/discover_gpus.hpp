// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwloc.h>

#include "topology/topology.hpp"

namespace chorus {

/// Adds to `gpu`, which is the PCI device `pci`, what hwloc tells about it.
void describe_gpu(hwloc_obj_t pci, Topology::Object& gpu);

/// Adds to the GPUs in `machine`, which are numbered, the links between them. With a switch in between they count as
/// linked, with what leads from one to the switch.
void link_gpus(hwloc_topology_t source, Topology::Object& machine);

}  // namespace chorus
