// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "gpus.hpp"
#include "topology/binding.hpp"
#include "topology/hierarchy.hpp"
#include "topology/topology.hpp"

namespace chorus::info {

/// What one rank tells of itself. Plain bytes.
struct RankRecord {
  int rank = 0;
  int pid = 0;
  std::array<char, 64> host = {};      ///< name of its host, cut and ended by zero
  std::uint64_t node = 0;              ///< the same for ranks that run on one system, in one container
  std::uint64_t machine = 0;           ///< the same for identical machines (`digest`)
  std::uint64_t description_size = 0;  ///< length of its machine's description as JSON
  Binding binding;
  GpuRecord gpu;
};
static_assert(std::is_trivially_copyable_v<RankRecord>);

/// A host with ranks.
struct Host {
  std::string name;
  std::vector<int> ranks;
};

/// A machine, and the hosts that are such machines.
struct Machine {
  Topology topology;
  std::vector<int> hosts;
};

/// All that is known about a job, or about a described machine: then there are no ranks.
struct Survey {
  std::vector<RankRecord> ranks;  ///< by rank
  std::vector<Host> hosts;        ///< by their first ranks
  std::vector<int> host_of;       ///< host of each rank
  std::vector<Machine> machines;  ///< by their first hosts
  std::string title;              ///< of a described machine: its description

  [[nodiscard]] Hierarchy hierarchy() const;
};

/// The cores the machine allows to the job, and those the ranks of a host have between them.
struct HostCores {
  int allowed = 0;
  int available = 0;  ///< less than the number of ranks: oversubscribed
};
[[nodiscard]] HostCores cores_of(const Survey& survey, int host);

/// Equal for machines that look the same; the sizes of memories, which differ by a little, do not count.
[[nodiscard]] std::uint64_t digest(const Topology& topology);

/// This process as a record, without its GPU; `topology` is its machine.
[[nodiscard]] RankRecord own_record(const Communicator& world, const Topology& topology);

/// The survey of the job. Called by all ranks, each with its machine; every rank gets it.
[[nodiscard]] Survey survey_job(const Communicator& world, const Topology& topology);

/// Groups ranks by host and hosts by machine. `topologies` holds the machine of each digest in `ranks`.
[[nodiscard]] Survey make_survey(std::vector<RankRecord> ranks, const std::vector<Topology>& topologies);

}  // namespace chorus::info
