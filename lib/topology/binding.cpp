// SPDX-License-Identifier: Apache-2.0
#include "topology/binding.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "topology/quota.hpp"
#include "topology/topology.hpp"

namespace chorus {
namespace {

/// The PUs of the affinity mask of `thread`, by the system's number; 0: the calling one. Empty where the system does
/// not tell.
PuSet affinity(pid_t thread) {
  constexpr int largest_kernel_mask = 8192;  // the kernel refuses a mask that is shorter than its own
  std::vector<cpu_set_t> mask(largest_kernel_mask / CPU_SETSIZE);
  const std::size_t bytes = mask.size() * sizeof(cpu_set_t);
  PuSet pus;
  if (sched_getaffinity(thread, bytes, mask.data()) != 0) return pus;
  for (std::size_t pu = 0; pu < pus.size(); ++pu) pus[pu] = CPU_ISSET_S(pu, bytes, mask.data());
  return pus;
}

}  // namespace

const char* name(Level level) noexcept {
  constexpr const char* names[level_count] = {"node", "package", "NUMA", "L3", "L2"};
  return names[static_cast<int>(level)];
}

Binding current_binding(const Topology& topology) {
  if (!topology.here) return topology.place(topology.allowed);
  Binding binding = topology.place(affinity(0));
  binding.quota = cpu_quota();
  return binding;
}

PuSet affinity_of_process() { return affinity(getpid()); }

int cores_available(std::span<const Binding> bindings) {
  if (bindings.empty()) return 0;
  struct Share {
    PuSet cores;
    double quota = 0;
  };
  PuSet cores;
  std::map<std::uint64_t, Share> shares;  // containers on one node: each has its own quota, on common or own cores
  for (const Binding& binding : bindings) {
    cores |= binding.cores;
    Share& share = shares[binding.quota.group];
    share.cores |= binding.cores;
    share.quota = binding.quota.cores;
  }
  double granted = 0;
  for (const auto& [group, share] : shares) granted += std::min(static_cast<double>(share.cores.count()), share.quota);
  return std::max(1, static_cast<int>(std::min(granted, static_cast<double>(cores.count()))));
}

}  // namespace chorus
