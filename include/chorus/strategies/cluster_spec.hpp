// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chorus {

/// One process of a cluster: the job it belongs to ("worker", "chief", "ps", "evaluator", ...) and its index there.
struct ClusterTask {
  std::string type;
  int id = 0;
  friend bool operator==(const ClusterTask&, const ClusterTask&) = default;
};

/// The addresses of a job's tasks by their index.
class CHORUS_API JobTasks {
 public:
  JobTasks() = default;
  /// Tasks 0, 1, ... of these addresses.
  JobTasks(std::initializer_list<std::string> addresses);
  JobTasks(const std::vector<std::string>& addresses);  // NOLINT(google-explicit-constructor): a list is a job
  /// Tasks of these indices: some may be missing.
  JobTasks(std::map<int, std::string> addresses);  // NOLINT(google-explicit-constructor): a map is a job

  [[nodiscard]] const std::map<int, std::string>& addresses() const noexcept { return addresses_; }
  /// True where the indices are 0, 1, ... without a gap.
  [[nodiscard]] bool dense() const noexcept;
  friend bool operator==(const JobTasks&, const JobTasks&) = default;

 private:
  std::map<int, std::string> addresses_;
};

/// Which tasks a cluster has, by job. The same on every process of it.
class CHORUS_API ClusterSpec {
 public:
  using Jobs = std::map<std::string, JobTasks>;

  /// No tasks: the program runs alone.
  ClusterSpec() = default;
  /// Throws   Error{invalid_argument} where a job has no name, an index is below 0 or an address is empty.
  explicit ClusterSpec(Jobs jobs);

  /// True where no job has a task.
  [[nodiscard]] bool empty() const noexcept { return num_tasks() == 0; }
  /// The names of the jobs, sorted.
  [[nodiscard]] std::vector<std::string> jobs() const;
  [[nodiscard]] bool has_job(const std::string& job) const { return jobs_.contains(job); }
  /// The tasks of all jobs.
  [[nodiscard]] int num_tasks() const noexcept;
  [[nodiscard]] const Jobs& tasks() const noexcept { return jobs_; }

  // Of one job. Each throws Error{invalid_argument} where there is no such job.

  [[nodiscard]] int num_tasks(const std::string& job) const;
  /// In rising order.
  [[nodiscard]] std::vector<int> task_indices(const std::string& job) const;
  /// Throws   Error{invalid_argument} where the job has no task `index`, too.
  [[nodiscard]] const std::string& task_address(const std::string& job, int index) const;
  /// From task 0 to the last one, nothing where one is missing.
  [[nodiscard]] std::vector<std::optional<std::string>> job_tasks(const std::string& job) const;

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;

 private:
  [[nodiscard]] const JobTasks& job_named(const std::string& job, const char* function) const;

  Jobs jobs_;
};

}  // namespace chorus
