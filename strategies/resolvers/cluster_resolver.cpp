// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/cluster_resolver.hpp>

#include <fmt/format.h>

namespace chorus {

ClusterResolver::ClusterResolver(TaskInfo said) : said_(std::move(said)) {}

ClusterResolver::~ClusterResolver() = default;

std::optional<int> ClusterResolver::num_accelerators() const { return std::nullopt; }

std::optional<std::string> ClusterResolver::task_type() const {
  return said_.task_type ? said_.task_type : found().task_type;
}

std::optional<int> ClusterResolver::task_id() const { return said_.task_id ? said_.task_id : found().task_id; }

std::string ClusterResolver::rpc_layer() const {
  return (said_.rpc_layer ? said_.rpc_layer : found().rpc_layer).value_or("");
}

std::string ClusterResolver::environment() const {
  return (said_.environment ? said_.environment : found().environment).value_or("");
}

std::optional<ClusterTask> ClusterResolver::task() const {
  const std::optional<std::string> type = task_type();
  const std::optional<int> id = task_id();
  if (!type && !id) return std::nullopt;
  if (type && id) return ClusterTask{*type, *id};
  throw Error(ErrorCode::invalid_argument,
              fmt::format("ClusterResolver::task: of this process only the {} known: give its {}, too",
                          type ? fmt::format("type, \"{}\", is", *type) : fmt::format("index, {}, is", *id),
                          type ? "index" : "type"));
}

std::string ClusterResolver::address_of(const TaskInfo& which) const {
  const std::optional<std::string> type = which.task_type ? which.task_type : task_type();
  const std::optional<int> id = which.task_id ? which.task_id : task_id();
  if (!type || !id) return "";
  const std::string layer = which.rpc_layer ? *which.rpc_layer : rpc_layer();
  const std::string address = cluster_spec().task_address(*type, *id);
  return layer.empty() ? address : fmt::format("{}://{}", layer, address);
}

std::string ClusterResolver::find_master(const TaskInfo& which) const { return address_of(which); }

}  // namespace chorus
