// SPDX-License-Identifier: Apache-2.0
#include "topology_json.hpp"

#include <chorus/error.hpp>

#include <cmath>
#include <cstddef>
#include <string>

#include "pu_list.hpp"

namespace chorus::info {
namespace {

using nlohmann::json;
using Kind = Topology::Kind;
using Object = Topology::Object;

json object_to_json(const Object& object) {
  json result{{"kind", name(object.kind)}, {"index", object.index}};
  if (object.os_index >= 0) result["os_index"] = object.os_index;
  if (object.bytes > 0) result["bytes"] = object.bytes;
  if (!object.name.empty()) result["name"] = object.name;
  if (object.pus.any()) result["pus"] = cpu_list(object.pus);
  if (!object.bus_id.empty()) result["bus_id"] = object.bus_id;
  if (object.vendor != 0) result["vendor"] = object.vendor;
  if (!object.model.empty()) result["model"] = object.model;
  for (const Topology::Link& link : object.links) {
    result["links"].push_back({{"gpu", link.gpu}, {"bytes_per_second", link.bytes_per_second}});
  }
  for (const Object& child : object.children) result["children"].push_back(object_to_json(child));
  return result;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "topology_from_json: " + why + "; give what to_json(Topology) made");
}

Kind kind_named(const std::string& text) {
  for (int kind = 0; kind <= static_cast<int>(Kind::network); ++kind) {
    if (text == name(static_cast<Kind>(kind))) return static_cast<Kind>(kind);
  }
  refuse("unknown kind \"" + text + '"');
}

PuSet pus_named(const std::string& list) {
  const auto pus = parse_cpu_list(list);
  if (!pus) refuse("\"" + list + "\" is no list of processing units");
  return *pus;
}

Object object_from_json(const json& source) {
  Object object;
  object.kind = kind_named(source.at("kind"));
  object.index = source.at("index");
  object.os_index = source.value("os_index", -1);
  object.bytes = source.value("bytes", std::uint64_t{0});
  object.name = source.value("name", "");
  object.pus = pus_named(source.value("pus", ""));
  object.bus_id = source.value("bus_id", "");
  object.vendor = source.value("vendor", 0);
  object.model = source.value("model", "");
  for (const json& link : source.value("links", json::array())) {
    object.links.push_back({.gpu = link.at("gpu"), .bytes_per_second = link.at("bytes_per_second")});
  }
  for (const json& child : source.value("children", json::array())) object.children.push_back(object_from_json(child));
  return object;
}

json gpu_to_json(const GpuRecord& gpu) {
  return {{"ordinal", gpu.ordinal},  {"bus_id", gpu.bus_id.data()}, {"uuid", gpu.uuid.data()},
          {"name", gpu.name.data()}, {"bytes", gpu.bytes},          {"distance", text_of(gpu.distance)},
          {"wanted", gpu.wanted},    {"visible", gpu.visible}};
}

json rank_to_json(const Survey& survey, const RankRecord& record) {
  const Binding& binding = record.binding;
  json objects = json::object();
  for (int level = static_cast<int>(Level::package); level < level_count; ++level) {
    const int object = binding.object(static_cast<Level>(level));
    if (object >= 0) objects[name(static_cast<Level>(level))] = object;
  }
  json result{{"rank", record.rank},         {"host", survey.host_of[record.rank]}, {"pid", record.pid},
              {"bound", binding.bound},      {"pus", cpu_list(binding.pus)},        {"cores", binding.cores.count()},
              {"inside", std::move(objects)}};
  if (std::isfinite(binding.quota.cores)) result["quota_cores"] = binding.quota.cores;
  if (record.gpu.ordinal >= 0) result["gpu"] = gpu_to_json(record.gpu);
  if (record.gpu.limit[0] != '\0') result["gpus_seen"] = record.gpu.limit.data();
  return result;
}

json split_to_json(const Split& split) {
  json groups = json::array();
  for (const RankGroup& group : split.groups) {
    json entry{{"level", name(group.level)}, {"host", group.node}, {"ranks", group.ranks}};
    if (group.object >= 0) entry["object"] = group.object;
    groups.push_back(std::move(entry));
  }
  return {{"level", name(split.level)}, {"groups", std::move(groups)}};
}

}  // namespace

json to_json(const Topology& topology) {
  return {
      {"allowed", cpu_list(topology.allowed)}, {"here", topology.here}, {"machine", object_to_json(topology.machine)}};
}

Topology topology_from_json(const json& source) {
  try {
    Topology topology;
    topology.machine = object_from_json(source.at("machine"));
    topology.allowed = pus_named(source.at("allowed"));
    topology.here = source.at("here");
    return topology;
  } catch (const json::exception& error) {
    refuse(error.what());
  }
}

json report_json(const Survey& survey) {
  json machines = json::array(), hosts = json::array(), ranks = json::array(), splits = json::array();
  for (const Machine& machine : survey.machines) {
    json entry = to_json(machine.topology);
    entry["hosts"] = machine.hosts;
    machines.push_back(std::move(entry));
  }
  for (std::size_t host = 0; host < survey.hosts.size(); ++host) {
    const Host& entry = survey.hosts[host];
    const HostCores cores = cores_of(survey, static_cast<int>(host));
    hosts.push_back({{"name", entry.name},
                     {"ranks", entry.ranks},
                     {"cores_allowed", cores.allowed},
                     {"cores_available", cores.available},
                     {"oversubscribed", static_cast<int>(entry.ranks.size()) > cores.available}});
  }
  for (const RankRecord& record : survey.ranks) ranks.push_back(rank_to_json(survey, record));
  for (const Split& split : survey.hierarchy().splits) splits.push_back(split_to_json(split));
  return {{"schema", report_schema},
          {"machines", std::move(machines)},
          {"hosts", std::move(hosts)},
          {"ranks", std::move(ranks)},
          {"splits", std::move(splits)}};
}

}  // namespace chorus::info
