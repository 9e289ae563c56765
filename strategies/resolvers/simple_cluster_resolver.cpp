// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/simple_cluster_resolver.hpp>

#include <fmt/format.h>

#include <utility>

namespace chorus {

SimpleClusterResolver::SimpleClusterResolver(ClusterSpec cluster, SimpleResolverOptions options)
    : ClusterResolver(std::move(options.task)),
      cluster_(std::move(cluster)),
      master_(std::move(options.master)),
      num_accelerators_(options.num_accelerators) {
  if (num_accelerators_.value_or(0) >= 0) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("SimpleClusterResolver: num_accelerators is {}: give 0 or more", *num_accelerators_));
}

std::string SimpleClusterResolver::find_master(const TaskInfo& which) const {
  return which.task_type && which.task_id ? address_of(which) : master_;
}

}  // namespace chorus
