// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/gpu.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "topology/binding.hpp"
#include "topology/topology.hpp"

namespace chorus {

/// The devices of `topology` for a process that may run on `pus`, with what each has of these, in the order of the
/// machine. NUMA domains are told apart by their PUs: of several memories next to the same cores the first counts, and
/// a memory next to the cores of several domains is none.
[[nodiscard]] std::vector<Device> devices_of(const Topology& topology, Device::Kind kind, const PuSet& pus);

/// What local_devices gives on such a machine.
[[nodiscard]] std::vector<Device> local_devices(const Topology& topology, const PuSet& pus);

/// What shared_devices gives on such a machine.
[[nodiscard]] std::vector<Device> shared_devices(int number, const Topology& topology, const PuSet& pus);

/// What gpu_device gives on such a machine, whose GPUs are known.
[[nodiscard]] Device gpu_device(const Gpu& gpu, const Topology& topology, const PuSet& pus);

/// What this process may run on: as it was when that was first asked.
[[nodiscard]] const PuSet& usable_pus();

/// What Device::parse gives on such a machine, for what is no GPU.
[[nodiscard]] Device parse_device(std::string_view name, const Topology& topology, const PuSet& pus);

/// "0, 2, 3", for messages.
[[nodiscard]] std::string listed(const std::vector<int>& pus);

}  // namespace chorus
