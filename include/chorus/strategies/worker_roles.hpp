// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/cluster_spec.hpp>

#include <optional>

namespace chorus {

// Who does what in a cluster whose jobs are "chief" (one task at most), "worker", "ps" and "evaluator" (one at most).
// Chief and workers compute together; an evaluator is a cluster of its own, and need not stand in the cluster.
//
// Each function throws Error{invalid_argument} where the cluster has another job or more than one chief or evaluator,
// where it is not empty but nothing is known of the task, and where it has no such task. In an empty cluster the
// program is alone: it is the chief, one worker, and its number is 0.

/// True for the task that writes files and reports: the chief, worker 0 where there is no chief, and every evaluator.
[[nodiscard]] CHORUS_API bool is_chief(const ClusterSpec& cluster, const std::optional<ClusterTask>& task);

/// How many tasks compute together with `task`: chief and workers, or the evaluators.
/// Throws   Error{invalid_argument} for a task of type ps, too.
[[nodiscard]] CHORUS_API int worker_count(const ClusterSpec& cluster, const std::optional<ClusterTask>& task);

/// The number of `task` among those, the chief first.
/// Throws   Error{invalid_argument} for a task of type ps, too.
[[nodiscard]] CHORUS_API int id_in_cluster(const ClusterSpec& cluster, const std::optional<ClusterTask>& task);

/// The task that leads the collectives of `task`: the chief, else worker 0; nothing for a program that is alone, and
/// for an evaluator.
[[nodiscard]] CHORUS_API std::optional<ClusterTask> collective_leader(const ClusterSpec& cluster,
                                                                      const std::optional<ClusterTask>& task);

// The same of a resolver's cluster and its own task.

[[nodiscard]] inline bool is_chief(const ClusterResolver& resolver) {
  return is_chief(resolver.cluster_spec(), resolver.task());
}
[[nodiscard]] inline int worker_count(const ClusterResolver& resolver) {
  return worker_count(resolver.cluster_spec(), resolver.task());
}
[[nodiscard]] inline int id_in_cluster(const ClusterResolver& resolver) {
  return id_in_cluster(resolver.cluster_spec(), resolver.task());
}
[[nodiscard]] inline std::optional<ClusterTask> collective_leader(const ClusterResolver& resolver) {
  return collective_leader(resolver.cluster_spec(), resolver.task());
}

}  // namespace chorus
