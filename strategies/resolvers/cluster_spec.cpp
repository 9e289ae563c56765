// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/cluster_spec.hpp>

#include <fmt/format.h>

#include <string_view>
#include <type_traits>
#include <utility>

namespace chorus {
namespace {

/// "a, b, c", or "none", for messages.
template <class T>
std::string listed(const std::vector<T>& things) {
  std::string text;
  for (const T& thing : things) {
    if (!text.empty()) text += ", ";
    if constexpr (std::is_same_v<T, int>)
      text += std::to_string(thing);
    else
      text += thing;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

JobTasks::JobTasks(std::initializer_list<std::string> addresses) : JobTasks(std::vector<std::string>(addresses)) {}

JobTasks::JobTasks(const std::vector<std::string>& addresses) {
  int index = 0;
  for (const std::string& address : addresses) addresses_.emplace_hint(addresses_.end(), index++, address);
}

JobTasks::JobTasks(std::map<int, std::string> addresses) : addresses_(std::move(addresses)) {}

bool JobTasks::dense() const noexcept {
  return addresses_.empty() ||
         (addresses_.begin()->first == 0 && addresses_.rbegin()->first == static_cast<int>(addresses_.size()) - 1);
}

ClusterSpec::ClusterSpec(Jobs jobs) : jobs_(std::move(jobs)) {
  for (const auto& [job, tasks] : jobs_) {
    if (job.empty())
      throw Error(ErrorCode::invalid_argument,
                  "ClusterSpec: the name of a job is empty: give it one, such as \"worker\"");
    for (const auto& [index, address] : tasks.addresses()) {
      const std::string_view wrong = index < 0         ? "the index is below 0: give 0 or more"
                                     : address.empty() ? "its address is empty: give one, such as \"host:2222\""
                                                       : "";
      if (wrong.empty()) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("ClusterSpec: task {} of job \"{}\": {}", index, job, wrong));
    }
  }
}

std::vector<std::string> ClusterSpec::jobs() const {
  std::vector<std::string> names;
  names.reserve(jobs_.size());
  for (const auto& [job, tasks] : jobs_) names.push_back(job);
  return names;
}

int ClusterSpec::num_tasks() const noexcept {
  std::size_t sum = 0;
  for (const auto& [job, tasks] : jobs_) sum += tasks.addresses().size();
  return static_cast<int>(sum);
}

const JobTasks& ClusterSpec::job_named(const std::string& job, const char* function) const {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) return found->second;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("ClusterSpec::{}: there is no job \"{}\" in the cluster: give one of its jobs: {}", function,
                          job, listed(jobs())));
}

int ClusterSpec::num_tasks(const std::string& job) const {
  return static_cast<int>(job_named(job, "num_tasks").addresses().size());
}

std::vector<int> ClusterSpec::task_indices(const std::string& job) const {
  std::vector<int> indices;
  for (const auto& [index, address] : job_named(job, "task_indices").addresses()) indices.push_back(index);
  return indices;
}

const std::string& ClusterSpec::task_address(const std::string& job, int index) const {
  const auto& addresses = job_named(job, "task_address").addresses();
  const auto found = addresses.find(index);
  if (found != addresses.end()) return found->second;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("ClusterSpec::task_address: job \"{}\" has no task {}: give one of its tasks: {}", job, index,
                          listed(task_indices(job))));
}

std::vector<std::optional<std::string>> ClusterSpec::job_tasks(const std::string& job) const {
  const auto& addresses = job_named(job, "job_tasks").addresses();
  std::vector<std::optional<std::string>> tasks;
  if (addresses.empty()) return tasks;
  tasks.resize(static_cast<std::size_t>(addresses.rbegin()->first) + 1);
  for (const auto& [index, address] : addresses) tasks[static_cast<std::size_t>(index)] = address;
  return tasks;
}

}  // namespace chorus
