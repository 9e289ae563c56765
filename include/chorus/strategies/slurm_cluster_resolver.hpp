// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/environment_variables.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chorus {

struct SlurmResolverOptions {
  std::map<std::string, int> jobs = {};           ///< the tasks of each job; empty: all are workers
  int port_base = 8888;                           ///< the port of a host's first task; the others' follow
  std::optional<int> tasks_per_node = {};         ///< on every host; nothing: as Slurm says
  std::map<std::string, int> tasks_on_host = {};  ///< by host, instead
  std::optional<int> gpus_per_node = {};  ///< nothing: what CUDA_VISIBLE_DEVICES lists, else SLURM_GPUS_ON_NODE, else 0
  std::optional<int> gpus_per_task = {};  ///< nothing: the GPUs of a node divided by its tasks, rounded down
  TaskInfo task = {};
};

/// The tasks of a Slurm job step, started by srun.
///
/// Tasks stand on the hosts in the order of Slurm's node list, a host's tasks one after another (srun's
/// --distribution=block, the default), and are dealt to the jobs in the alphabetical order of their names. It reads
/// SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE, and where they are set
/// SLURM_NODEID and SLURM_LOCALID to check the placement. It changes no environment variable.
class CHORUS_API SlurmClusterResolver final : public ClusterResolver {
 public:
  /// Reads the environment, once.
  /// Throws   Error{invalid_environment} where a variable is missing or malformed, or two of them disagree;
  ///          Error{invalid_argument} where the options do not fit the tasks and GPUs there are.
  explicit SlurmClusterResolver(const SlurmResolverOptions& options = {},
                                const EnvironmentVariables& variables = process_environment);

  [[nodiscard]] ClusterSpec cluster_spec() const override { return cluster_; }
  /// The GPUs of each task; 0 is legal.
  [[nodiscard]] std::optional<int> num_accelerators() const override { return gpus_per_task_; }
  /// Which of the GPUs that this task sees are its own, counted from 0. Where neither option is given and Slurm has
  /// bound GPUs to every task (srun --gpus-per-task), it sees no others.
  [[nodiscard]] std::vector<int> own_gpus() const;

 private:
  [[nodiscard]] TaskInfo found() const override { return found_; }

  ClusterSpec cluster_;
  TaskInfo found_;
  int gpus_per_task_ = 0;
  int first_gpu_ = 0;  ///< this task's first one
};

}  // namespace chorus
