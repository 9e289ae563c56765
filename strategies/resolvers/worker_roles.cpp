// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace chorus {
namespace {

constexpr std::array<std::string_view, 4> roles = {"chief", "evaluator", "ps", "worker"};
constexpr std::string_view expected_roles = "give chief, worker, ps or evaluator";

[[noreturn]] void reject(const char* function, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", function, why));
}

bool is_role(const std::string& name) { return std::ranges::find(roles, name) != roles.end(); }

int tasks_of(const ClusterSpec& cluster, const std::string& job) {
  return cluster.has_job(job) ? cluster.num_tasks(job) : 0;
}

void check_cluster(const char* function, const ClusterSpec& cluster) {
  for (const std::string& job : cluster.jobs()) {
    if (!is_role(job)) reject(function, fmt::format("the cluster has a job \"{}\": {}", job, expected_roles));
  }
  for (const char* single : {"chief", "evaluator"}) {
    const int tasks = tasks_of(cluster, single);
    if (tasks > 1)
      reject(function, fmt::format("the cluster has {} tasks of type {}: give it one at most", tasks, single));
  }
}

/// Checks both, and gives the task; nothing where the program is alone.
std::optional<ClusterTask> checked(const char* function, const ClusterSpec& cluster,
                                   const std::optional<ClusterTask>& task) {
  check_cluster(function, cluster);
  if (task && !is_role(task->type))
    reject(function, fmt::format("the task has the type \"{}\": {}", task->type, expected_roles));
  if (cluster.empty()) return std::nullopt;
  if (!task)
    reject(function, "the cluster has tasks, but it is not known which one this process is: give type and index");
  const bool apart = task->type == "evaluator" && tasks_of(cluster, "evaluator") == 0;
  const bool there = apart
                         ? task->id == 0
                         : cluster.has_job(task->type) && cluster.tasks().at(task->type).addresses().contains(task->id);
  if (!there) {
    reject(
        function,
        fmt::format("task {} of type {} is none of the cluster's, which has {} of them: give the task of this process",
                    task->id, task->type, tasks_of(cluster, task->type)));
  }
  return task;
}

[[noreturn]] void reject_ps(const char* function) {
  reject(function, "a task of type ps computes with nobody and has no number: call it in a chief, worker or evaluator");
}

}  // namespace

bool is_chief(const ClusterSpec& cluster, const std::optional<ClusterTask>& task) {
  const std::optional<ClusterTask> own = checked("is_chief", cluster, task);
  if (!own || own->type == "chief" || own->type == "evaluator") return true;
  return own->type == "worker" && own->id == 0 && tasks_of(cluster, "chief") == 0;
}

int worker_count(const ClusterSpec& cluster, const std::optional<ClusterTask>& task) {
  const std::optional<ClusterTask> own = checked("worker_count", cluster, task);
  if (!own || own->type == "evaluator") return 1;
  if (own->type == "ps") reject_ps("worker_count");
  return tasks_of(cluster, "chief") + tasks_of(cluster, "worker");
}

int id_in_cluster(const ClusterSpec& cluster, const std::optional<ClusterTask>& task) {
  const std::optional<ClusterTask> own = checked("id_in_cluster", cluster, task);
  if (!own || own->type == "evaluator") return 0;
  if (own->type == "ps") reject_ps("id_in_cluster");
  return own->type == "chief" ? 0 : own->id + tasks_of(cluster, "chief");
}

std::optional<ClusterTask> collective_leader(const ClusterSpec& cluster, const std::optional<ClusterTask>& task) {
  const std::optional<ClusterTask> own = checked("collective_leader", cluster, task);
  if (!own || own->type == "evaluator") return std::nullopt;
  return ClusterTask{tasks_of(cluster, "chief") > 0 ? "chief" : "worker", 0};
}

}  // namespace chorus
