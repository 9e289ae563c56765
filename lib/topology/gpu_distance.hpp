// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "topology/topology.hpp"

namespace chorus {

/// How far a GPU is from where a thread may run: the smallest of these that holds both.
enum class GpuDistance : std::uint8_t {
  beside,   ///< the part of a NUMA domain (an L3 cache, a group of cores) that the GPU's PCI root belongs to
  numa,     ///< a NUMA domain
  package,  ///< a package
  machine,
  unknown  ///< the machine, but it is not known where in it the GPU is
};

/// "beside it", "same NUMA domain", "same package", "same machine" or "place not known".
[[nodiscard]] const char* text_of(GpuDistance distance) noexcept;

/// What it is taken to cost: a step for each of these that has to be left. A GPU at an unknown place is far.
[[nodiscard]] int cost_of(GpuDistance distance) noexcept;

/// The PUs of the smallest part of `topology` that the GPU at `bus_id`, in small letters, hangs at; none where its
/// place is not known.
[[nodiscard]] PuSet pus_beside(const Topology& topology, std::string_view bus_id);

/// The distance on `topology` between the GPU that is on the PCI bus at `bus_id`, in small letters, and a thread that
/// may run on `pus`, which are not none. A NUMA domain that holds packages is no level.
[[nodiscard]] GpuDistance gpu_distance(const Topology& topology, std::string_view bus_id, const PuSet& pus);

}  // namespace chorus
