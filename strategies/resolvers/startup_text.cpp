// SPDX-License-Identifier: Apache-2.0
#include "resolvers/startup_text.hpp"

#include <fmt/format.h>

#include <chorus/strategies/worker_roles.hpp>

#include <cstddef>
#include <set>

namespace chorus {
namespace {

std::string counted(long long count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The hosts of the tasks that compute together with `task`.
std::size_t hosts_of(const ClusterSpec& cluster, const ClusterTask& task) {
  if (task.type == "evaluator") return 1;
  std::set<std::string_view> hosts;
  for (const char* job : {"chief", "worker"}) {
    const auto found = cluster.tasks().find(job);
    if (found == cluster.tasks().end()) continue;
    for (const auto& [index, address] : found->second.addresses()) hosts.insert(host_of(address));
  }
  return hosts.size();
}

}  // namespace

std::string_view host_of(std::string_view address) noexcept {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return address;
  const std::string_view before = address.substr(0, colon);
  // A colon inside what precedes it makes it an IPv6 address, whose port stands behind brackets alone.
  return before.find(':') == std::string_view::npos || before.ends_with(']') ? before : address;
}

std::string startup_text(std::string_view strategy, const ClusterResolver& resolver, int local_replicas) {
  const ClusterSpec cluster = resolver.cluster_spec();
  const std::optional<ClusterTask> task = resolver.task();
  const int workers = worker_count(cluster, task);
  const long long replicas = static_cast<long long>(workers) * local_replicas;
  const std::string in_sync = fmt::format("{} x {} = {} in sync", counted(workers, "worker"),
                                          counted(local_replicas, "replica"), counted(replicas, "replica"));
  if (cluster.empty())
    return fmt::format("chorus: {}: {}; no cluster is described, this process is alone", strategy, in_sync);
  const char* const servers = cluster.tasks().contains("ps") ? "; warning: the cluster's ps tasks take no part" : "";
  return fmt::format("chorus: {}: {} on {}; this is {} {}{}", strategy, in_sync,
                     counted(static_cast<long long>(hosts_of(cluster, *task)), "host"), task->type, task->id, servers);
}

}  // namespace chorus
