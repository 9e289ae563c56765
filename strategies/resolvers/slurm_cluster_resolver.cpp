// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/slurm_cluster_resolver.hpp>
#include <chorus/strategies/slurm_node_list.hpp>

#include "resolvers/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace chorus {
namespace {

constexpr std::string_view remedy = "start the program with srun, or take MpiClusterResolver";
constexpr int last_port = 65535;

[[noreturn]] void reject_options(std::string_view why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("SlurmClusterResolver: {}", why));
}

/// What `expand` makes of the variable `name`; what it objects to is an error of the environment.
template <class Expand>
auto expanded(const EnvironmentVariables& variables, const std::string& name, Expand expand) {
  const std::string value = required(variables, name, remedy);
  try {
    return expand(value);
  } catch (const Error& error) {
    reject_variable(name, value, error.message());
  }
}

int required_number(const EnvironmentVariables& variables, const std::string& name) {
  static_cast<void>(required(variables, name, remedy));
  return *number_in(variables, name);
}

/// The tasks of each of `hosts`.
std::vector<int> tasks_by_host(const SlurmResolverOptions& options, const EnvironmentVariables& variables,
                               const std::vector<std::string>& hosts) {
  if (options.tasks_per_node && !options.tasks_on_host.empty()) {
    reject_options("tasks_per_node and tasks_on_host are both given; give one of them");
  }
  if (options.tasks_per_node) return std::vector<int>(hosts.size(), *options.tasks_per_node);
  std::vector<int> tasks;
  if (!options.tasks_on_host.empty()) {
    for (const std::string& host : hosts) {
      const auto found = options.tasks_on_host.find(host);
      if (found == options.tasks_on_host.end())
        reject_options(fmt::format("tasks_on_host lacks host {}: give its number of tasks, too", host));
      tasks.push_back(found->second);
    }
    return tasks;
  }
  tasks = expanded(variables, "SLURM_STEP_TASKS_PER_NODE", expand_tasks_per_node);
  if (tasks.size() == hosts.size()) return tasks;
  throw Error(
      ErrorCode::invalid_environment,
      fmt::format("SlurmClusterResolver: SLURM_STEP_NODELIST names {} nodes, but SLURM_STEP_TASKS_PER_NODE has the "
                  "tasks of {}: {}",
                  hosts.size(), tasks.size(), remedy));
}

void check_sum(const std::vector<int>& tasks, int num_tasks) {
  const auto negative = std::ranges::find_if(tasks, [](int count) { return count < 0; });
  if (negative != tasks.end()) reject_options(fmt::format("{} tasks on a host: give 0 or more", *negative));
  const long long sum = std::accumulate(tasks.begin(), tasks.end(), 0LL);
  if (sum == num_tasks) return;
  throw Error(ErrorCode::invalid_environment, fmt::format("SlurmClusterResolver: the hosts have {} tasks in all, but "
                                                          "SLURM_STEP_NUM_TASKS={}: the environment is of another "
                                                          "job step; {}",
                                                          sum, num_tasks, remedy));
}

/// The address of every task, in the order of the tasks.
std::vector<std::string> addresses_of(const std::vector<std::string>& hosts, const std::vector<int>& tasks,
                                      int port_base) {
  const int most = *std::ranges::max_element(tasks);
  if (port_base < 1 || port_base > last_port || most > last_port - port_base + 1) {
    reject_options(fmt::format("port_base is {}: ports are 1 to {}, and {} tasks of a host need one each", port_base,
                               last_port, most));
  }
  std::vector<std::string> addresses;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    for (int task = 0; task < tasks[host]; ++task) {
      addresses.push_back(fmt::format("{}:{}", hosts[host], port_base + task));
    }
  }
  return addresses;
}

/// Deals the tasks to the jobs, and says which one is number `own`.
std::pair<ClusterSpec, TaskInfo> dealt(const std::map<std::string, int>& jobs,
                                       const std::vector<std::string>& addresses, int own) {
  long long requested = 0;
  for (const auto& [job, count] : jobs) {
    if (count < 0) reject_options(fmt::format("job \"{}\" has {} tasks: give 0 or more", job, count));
    requested += count;
  }
  if (requested != static_cast<long long>(addresses.size())) {
    reject_options(
        fmt::format("jobs: {} tasks are requested, {} assigned by Slurm; ask srun for {} (-n), or change jobs",
                    requested, addresses.size(), requested));
  }
  ClusterSpec::Jobs dealt_jobs;
  TaskInfo info{.rpc_layer = "grpc"};
  auto next = addresses.begin();
  for (const auto& [job, count] : jobs) {
    const auto index = own - (next - addresses.begin());
    if (index >= 0 && index < count) {
      info.task_type = job;
      info.task_id = static_cast<int>(index);
    }
    dealt_jobs.emplace(job, std::vector<std::string>(next, next + count));
    next += count;
  }
  return {ClusterSpec(std::move(dealt_jobs)), std::move(info)};
}

/// This task's index among those of its host, if Slurm has placed the tasks host by host.
int local_task(const std::vector<int>& tasks, int own, const EnvironmentVariables& variables) {
  int node = 0, local = own;
  while (local >= tasks[static_cast<std::size_t>(node)]) local -= tasks[static_cast<std::size_t>(node++)];
  const int slurm_node = number_in(variables, "SLURM_NODEID").value_or(node);
  const int slurm_local = number_in(variables, "SLURM_LOCALID").value_or(local);
  if (slurm_node == node && slurm_local == local) return local;
  throw Error(ErrorCode::invalid_environment,
              fmt::format("SlurmClusterResolver: task {} is task {} of node {} by the order of the node list, but "
                          "Slurm has made it task {} of "
                          "node {} (SLURM_LOCALID, SLURM_NODEID): tasks are not placed host by host; start the program "
                          "with srun --distribution=block, or take MpiClusterResolver, to which the order is the same",
                          own, local, node, slurm_local, slurm_node));
}

/// How many GPUs CUDA_VISIBLE_DEVICES lists: CUDA ignores those after one that it does not know, such as -1.
int listed_gpus(std::string_view devices) {
  int gpus = 0;
  while (!devices.empty() && devices.front() != '-' && devices.front() != ',' && devices != "NoDevFiles") {
    ++gpus;
    devices.remove_prefix(std::min(devices.size(), devices.find(',')));
    if (!devices.empty()) devices.remove_prefix(1);
  }
  return gpus;
}

/// How many GPUs Slurm has bound to this task alone (srun --gpus-per-task): CUDA_VISIBLE_DEVICES lists only these then.
std::optional<int> bound_gpus(const SlurmResolverOptions& options, const EnvironmentVariables& variables) {
  const std::optional<std::string> devices = variables("CUDA_VISIBLE_DEVICES");
  if (options.gpus_per_node || options.gpus_per_task || !devices || !variables("SLURM_GPUS_PER_TASK")) return {};
  return listed_gpus(*devices);
}

int gpus_of_node(const SlurmResolverOptions& options, const EnvironmentVariables& variables) {
  if (options.gpus_per_node) return *options.gpus_per_node;
  if (const std::optional<std::string> devices = variables("CUDA_VISIBLE_DEVICES")) return listed_gpus(*devices);
  return number_in(variables, "SLURM_GPUS_ON_NODE").value_or(0);
}

/// A task's share of the GPUs of its node, which all of the node's tasks see.
int shared_gpus(const SlurmResolverOptions& options, int gpus_per_node, int most_tasks) {
  const int gpus_per_task = options.gpus_per_task.value_or(gpus_per_node / most_tasks);
  if (gpus_per_node < 0 || gpus_per_task < 0) reject_options("gpus_per_node and gpus_per_task must be 0 or more");
  const long long requested = static_cast<long long>(gpus_per_task) * most_tasks;
  if (requested <= gpus_per_node) return gpus_per_task;
  reject_options(
      fmt::format("{} GPUs for each of {} tasks on a node are requested, but a node has {}; ask Slurm for more "
                  "(--gpus-per-node), or for fewer tasks or GPUs per task",
                  gpus_per_task, most_tasks, gpus_per_node));
}

}  // namespace

SlurmClusterResolver::SlurmClusterResolver(const SlurmResolverOptions& options, const EnvironmentVariables& variables)
    : ClusterResolver(options.task) {
  const int own = required_number(variables, "SLURM_PROCID");
  const int num_tasks = required_number(variables, "SLURM_STEP_NUM_TASKS");
  if (own >= num_tasks) {
    reject_variable("SLURM_PROCID", std::to_string(own),
                    fmt::format("there are {} tasks (SLURM_STEP_NUM_TASKS)", num_tasks));
  }
  const std::vector<std::string> hosts = expanded(variables, "SLURM_STEP_NODELIST", expand_nodelist);
  const std::vector<int> tasks = tasks_by_host(options, variables, hosts);
  check_sum(tasks, num_tasks);
  const int local = local_task(tasks, own, variables);
  const std::vector<std::string> addresses = addresses_of(hosts, tasks, options.port_base);
  const std::map<std::string, int> all_workers = {{"worker", num_tasks}};
  std::tie(cluster_, found_) = dealt(options.jobs.empty() ? all_workers : options.jobs, addresses, own);
  if (const std::optional<int> bound = bound_gpus(options, variables)) {
    gpus_per_task_ = *bound;
    return;
  }
  gpus_per_task_ = shared_gpus(options, gpus_of_node(options, variables), *std::ranges::max_element(tasks));
  first_gpu_ = local * gpus_per_task_;
}

std::vector<int> SlurmClusterResolver::own_gpus() const {
  std::vector<int> gpus(static_cast<std::size_t>(gpus_per_task_));
  std::iota(gpus.begin(), gpus.end(), first_gpu_);
  return gpus;
}

}  // namespace chorus
