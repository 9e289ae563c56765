// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/union_resolver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace chorus {
namespace {

/// The tasks of a job as each cluster has them, in the order of the clusters.
using Parts = std::vector<const JobTasks*>;

JobTasks one_after_another(const Parts& parts) {
  std::vector<std::string> addresses;
  for (const JobTasks* part : parts) {
    for (const auto& [index, address] : part->addresses()) addresses.push_back(address);
  }
  return addresses;
}

JobTasks by_index(const std::string& job, const Parts& parts) {
  std::map<int, std::string> addresses;
  for (const JobTasks* part : parts) {
    for (const auto& [index, address] : part->addresses()) {
      const auto [there, added] = addresses.emplace(index, address);
      if (added) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("UnionResolver: job \"{}\" has two tasks of index {}, {} and {}: give each another index",
                              job, index, there->second, address));
    }
  }
  return addresses;
}

}  // namespace

UnionResolver::UnionResolver(std::vector<std::shared_ptr<const ClusterResolver>> resolvers, TaskInfo said)
    : ClusterResolver(std::move(said)), resolvers_(std::move(resolvers)) {
  if (resolvers_.empty())
    throw Error(ErrorCode::invalid_argument, "UnionResolver: resolvers is empty: give one or more");
  const auto null = std::ranges::find(resolvers_, nullptr);
  if (null == resolvers_.end()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("UnionResolver: resolver {} is a null pointer: leave it out", null - resolvers_.begin()));
}

ClusterSpec UnionResolver::cluster_spec() const {
  std::vector<ClusterSpec> clusters;
  clusters.reserve(resolvers_.size());
  for (const auto& resolver : resolvers_) clusters.push_back(resolver->cluster_spec());
  std::map<std::string, Parts> parts_of;
  for (const ClusterSpec& cluster : clusters) {
    for (const auto& [job, tasks] : cluster.tasks()) parts_of[job].push_back(&tasks);
  }
  ClusterSpec::Jobs joined;
  for (const auto& [job, parts] : parts_of) {
    const bool dense = std::ranges::all_of(parts, [](const JobTasks* part) { return part->dense(); });
    joined.emplace(job, dense ? one_after_another(parts) : by_index(job, parts));
  }
  return ClusterSpec(std::move(joined));
}

std::optional<int> UnionResolver::num_accelerators() const { return resolvers_.front()->num_accelerators(); }

TaskInfo UnionResolver::found() const {
  const ClusterResolver& first = *resolvers_.front();
  return {first.task_type(), first.task_id(), first.rpc_layer(), first.environment()};
}

std::string UnionResolver::find_master(const TaskInfo& which) const { return resolvers_.front()->master(which); }

}  // namespace chorus
