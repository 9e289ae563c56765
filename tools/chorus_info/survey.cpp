// SPDX-License-Identifier: Apache-2.0
#include "survey.hpp"

#include <chorus/allgather.hpp>
#include <chorus/bcast.hpp>
#include <chorus/detail/fnv1a.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "topology_json.hpp"

namespace chorus::info {
namespace {

using Kind = Topology::Kind;

using detail::Fnv1a;

void add(Fnv1a& hash, const Topology::Object& object) {
  const bool memory = object.kind == Kind::machine || object.kind == Kind::numa;
  hash.add(static_cast<std::uint64_t>(object.kind));
  hash.add(static_cast<std::uint64_t>(object.os_index));
  hash.add(memory ? 0 : object.bytes);
  hash.add(object.name);
  hash.add(object.bus_id);
  for (const Topology::Link& link : object.links) hash.add(link.bytes_per_second);
  hash.add(object.children.size());
  for (const Topology::Object& child : object.children) add(hash, child);
}

/// The same for processes of one boot of one system that see each other; hosts and containers differ.
std::uint64_t node_id(std::string_view host) {
  Fnv1a hash;
  hash.add(host);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  hash.add(boot);
  struct stat processes {};
  if (stat("/proc/self/ns/pid", &processes) == 0) hash.add(static_cast<std::uint64_t>(processes.st_ino));
  return hash.value();
}

/// Every rank's record, by rank. Called by all.
std::vector<RankRecord> gather_ranks(const Communicator& world, const RankRecord& own) {
  std::vector<RankRecord> all(static_cast<std::size_t>(world.size()));
  const std::span in(reinterpret_cast<const unsigned char*>(&own), sizeof own);
  const std::span out(reinterpret_cast<unsigned char*>(all.data()), all.size() * sizeof own);
  allgather(world, in, out);
  return all;
}

/// One description for each digest among `ranks`, from the first rank that has it. Called by all.
std::vector<Topology> gather_machines(const Communicator& world, const std::vector<RankRecord>& ranks,
                                      const std::string& own_description) {
  std::vector<Topology> machines;
  std::map<std::uint64_t, bool> seen;
  for (const RankRecord& record : ranks) {
    if (!seen.try_emplace(record.machine, true).second) continue;
    std::string description = record.rank == world.rank() ? own_description : std::string(record.description_size, ' ');
    bcast(world, description, record.rank);
    machines.push_back(topology_from_json(nlohmann::json::parse(description)));
  }
  return machines;
}

}  // namespace

std::uint64_t digest(const Topology& topology) {
  Fnv1a hash;
  add(hash, topology.machine);
  hash.add(topology.allowed.to_string());
  return hash.value();
}

RankRecord own_record(const Communicator& world, const Topology& topology) {
  RankRecord record;
  record.rank = world.rank();
  record.pid = getpid();
  gethostname(record.host.data(), record.host.size() - 1);
  record.node = node_id(record.host.data());
  record.machine = digest(topology);
  record.binding = current_binding(topology);
  return record;
}

Survey survey_job(const Communicator& world, const Topology& topology) {
  const std::string description = to_json(topology).dump();
  RankRecord own = own_record(world, topology);
  own.description_size = description.size();
  own.gpu = own_gpu(world, topology);
  std::vector<RankRecord> ranks = gather_ranks(world, own);
  const std::vector<Topology> machines = gather_machines(world, ranks, description);
  return make_survey(std::move(ranks), machines);
}

Survey make_survey(std::vector<RankRecord> ranks, const std::vector<Topology>& topologies) {
  Survey survey;
  std::map<std::uint64_t, int> host_numbers, machine_numbers;
  for (const RankRecord& record : ranks) {
    const auto host = host_numbers.try_emplace(record.node, static_cast<int>(survey.hosts.size()));
    survey.host_of.push_back(host.first->second);
    if (host.second) {
      survey.hosts.push_back({record.host.data(), {}});
      const auto machine = machine_numbers.try_emplace(record.machine, static_cast<int>(survey.machines.size()));
      if (machine.second) {
        const auto topology = std::find_if(topologies.begin(), topologies.end(), [&](const Topology& candidate) {
          return digest(candidate) == record.machine;
        });
        if (topology == topologies.end()) throw std::logic_error("a rank's machine was not described");
        survey.machines.push_back({*topology, {}});
      }
      survey.machines[machine.first->second].hosts.push_back(host.first->second);
    }
    survey.hosts[host.first->second].ranks.push_back(record.rank);
  }
  survey.ranks = std::move(ranks);
  return survey;
}

Hierarchy Survey::hierarchy() const {
  std::vector<RankPlace> places;
  for (const RankRecord& record : ranks) places.push_back({host_of[record.rank], record.binding});
  return hierarchy_of(places);
}

HostCores cores_of(const Survey& survey, int host) {
  std::vector<Binding> bindings;
  for (const int rank : survey.hosts[host].ranks) bindings.push_back(survey.ranks[rank].binding);
  for (const Machine& machine : survey.machines) {
    if (std::find(machine.hosts.begin(), machine.hosts.end(), host) == machine.hosts.end()) continue;
    const PuSet allowed = machine.topology.cores_of(machine.topology.allowed);
    return {static_cast<int>(allowed.count()), cores_available(bindings)};
  }
  return {0, cores_available(bindings)};
}

}  // namespace chorus::info
