// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "topology/gpu_distance.hpp"
#include "topology/topology.hpp"

namespace chorus::info {

struct Survey;

/// What one rank tells of its GPU. Plain bytes; texts are cut and ended by zero.
struct GpuRecord {
  int ordinal = -1;  ///< of the one it takes, as CUDA numbers it in its process; -1: none
  int visible = 0;   ///< how many it can use
  GpuDistance distance = GpuDistance::unknown;
  bool wanted = false;  ///< by CHORUS_GPUS
  std::uint64_t bytes = 0;
  std::array<char, 20> bus_id = {};
  std::array<char, 40> uuid = {};
  std::array<char, 64> name = {};
  std::array<char, 320> limit = {};  ///< what limits what the rank sees; empty where nothing does
};
static_assert(std::is_trivially_copyable_v<GpuRecord>);

/// What this rank takes by nearest_gpu. Called by all ranks; `topology` is its machine. A limit is told of where there
/// is a driver, or a GPU of NVIDIA's that lacks one.
[[nodiscard]] GpuRecord own_gpu(const Communicator& world, const Topology& topology);

/// The GPUs of a machine of which hwloc tells more than a name, each with that: "GPU cuda0: 0000:3b:00.0, NVIDIA A100,
/// 40 GB; NVLink to cuda1 at 100 GB/s". Those whose names are the same, or which have none, are named by their numbers.
[[nodiscard]] std::vector<std::string> gpu_lines(const Topology& topology);
/// The same of one, without its name; empty where nothing is known.
[[nodiscard]] std::string gpu_facts(const Topology::Object& gpu, const Topology& topology);

/// "GPU 1 (0000:b1:00.0), same NUMA domain"; empty where the rank takes none.
[[nodiscard]] std::string taken_gpu(const Survey& survey, int rank);

/// A line for each rank that takes a GPU, and one that says what limits what ranks see; empty where there is nothing to
/// say.
[[nodiscard]] std::string gpu_report(const Survey& survey);

}  // namespace chorus::info
