// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/tf_config_cluster_resolver.hpp>

#include "resolvers/variables.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using Json = nlohmann::json;

[[noreturn]] void reject(std::string_view why) {
  throw Error(ErrorCode::invalid_environment, fmt::format("environment variable TF_CONFIG: {}", why));
}

Json parse(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    const std::string_view message = error.what();  // "[json.exception...] parse error at line 1, column 2: ..."
    reject(message.substr(std::min(message.size(), message.find(']') + 2)));
  }
}

/// What stands at `key` in `object`; nothing where it is missing or null.
const Json* entry(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// A value as messages show it: as it is written, of what is nested only the kind.
std::string shown(const Json& value) {
  return value.is_structured() ? fmt::format("an {}", value.type_name()) : value.dump();
}

std::optional<std::string> text_at(const Json& object, const std::string& key, std::string_view where) {
  const Json* const value = entry(object, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) reject(fmt::format("{} must be a text, not {}", where, shown(*value)));
  return value->get<std::string>();
}

/// The whole number that `value` is or spells.
std::optional<int> index_in(const Json& value) {
  if (value.is_string()) return whole_number(value.get_ref<const std::string&>());
  return value.is_number_integer() ? whole_number(value.dump()) : std::nullopt;
}

std::string address_in(const Json& value, std::string_view where) {
  if (value.is_string() && !value.get_ref<const std::string&>().empty()) return value.get<std::string>();
  reject(fmt::format("{} must be an address, such as \"host:2222\"", where));
}

JobTasks tasks_in(const Json& value, const std::string& job) {
  const std::string where = fmt::format("\"cluster\".\"{}\"", job);
  if (value.is_null()) return {};
  if (value.is_array()) {
    std::vector<std::string> addresses;
    for (const Json& address : value) {
      addresses.push_back(address_in(address, fmt::format("{}[{}]", where, addresses.size())));
    }
    return addresses;
  }
  if (!value.is_object()) reject(fmt::format("{} must be an array of addresses, or an object of them by index", where));
  std::map<int, std::string> addresses;
  for (const auto& [key, address] : value.items()) {
    const std::optional<int> index = whole_number(key);
    if (!index) reject(fmt::format("\"{}\" in {} must be the index of a task, 0 or more", key, where));
    if (!addresses.emplace(*index, address_in(address, fmt::format("{}.\"{}\"", where, key))).second) {
      reject(fmt::format("{} has two tasks of index {}", where, *index));
    }
  }
  return addresses;
}

ClusterSpec cluster_in(const Json& config) {
  const Json* const cluster = entry(config, "cluster");
  if (cluster == nullptr) return {};
  if (!cluster->is_object()) reject("\"cluster\" must be an object of jobs, such as {\"worker\": [\"host:2222\"]}");
  ClusterSpec::Jobs jobs;
  for (const auto& [job, tasks] : cluster->items()) {
    if (job.empty()) reject("a job in \"cluster\" has no name");
    jobs.emplace(job, tasks_in(tasks, job));
  }
  return ClusterSpec(std::move(jobs));
}

TaskInfo task_in(const Json& config) {
  TaskInfo info{.rpc_layer = text_at(config, "rpc_layer", "\"rpc_layer\""),
                .environment = text_at(config, "environment", "\"environment\"")};
  const Json* const task = entry(config, "task");
  if (task == nullptr) return info;
  if (!task->is_object()) reject("\"task\" must be an object, such as {\"type\": \"worker\", \"index\": 0}");
  info.task_type = text_at(*task, "type", "\"task\".\"type\"");
  if (const Json* const index = entry(*task, "index")) {
    info.task_id = index_in(*index);
    if (!info.task_id) {
      reject(fmt::format("\"task\".\"index\" must be a whole number, 0 or more, not {}", shown(*index)));
    }
  }
  return info;
}

}  // namespace

TFConfigClusterResolver::TFConfigClusterResolver(TaskInfo said, EnvironmentVariables variables)
    : ClusterResolver(std::move(said)), variables_(std::move(variables)) {
  reload();
}

void TFConfigClusterResolver::reload() {
  const Json config = parse(variables_("TF_CONFIG").value_or("{}"));
  if (!config.is_object()) reject("it must be an object, such as {\"cluster\": {...}, \"task\": {...}}");
  ClusterSpec cluster = cluster_in(config);
  TaskInfo info = task_in(config);
  session_master_ = text_at(config, "session_master", "\"session_master\"");
  cluster_ = std::move(cluster);
  found_ = std::move(info);
}

std::string TFConfigClusterResolver::find_master(const TaskInfo& which) const {
  if (session_master_) return *session_master_;
  if (cluster_.num_tasks() <= 1) return "";
  std::string address = address_of(which);
  if (!address.empty()) return address;
  throw Error(ErrorCode::invalid_argument,
              "TFConfigClusterResolver::master: the cluster has several tasks, and it is not known which one is meant: "
              "name its type and index, or give \"task\" in TF_CONFIG");
}

}  // namespace chorus
