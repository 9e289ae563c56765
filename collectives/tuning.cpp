// SPDX-License-Identifier: Apache-2.0
#include "tuning.hpp"

#include "base/names.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t max_ranks = std::numeric_limits<int>::max();

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::invalid_environment, fmt::format("the tuning file is not used: {}", why));
}

// The names of the numbers: those of LinkModel.
template <class Numbers>
using Named = std::pair<std::string_view, double Numbers::*>;
constexpr std::array<Named<LinkModel>, 11> numbers_of_model = {
    {{"shared_alone_megabytes_per_second", &LinkModel::shared_alone_megabytes_per_second},
     {"shared_peer_us", &LinkModel::shared_peer_us},
     {"far_megabytes_per_second", &LinkModel::far_megabytes_per_second},
     {"long_read_megabytes_per_second", &LinkModel::long_read_megabytes_per_second},
     {"readers_at_once", &LinkModel::readers_at_once},
     {"readers_of_a_core", &LinkModel::readers_of_a_core},
     {"task_us", &LinkModel::task_us},
     {"task_peer_us", &LinkModel::task_peer_us},
     {"to_next_gain", &LinkModel::to_next_gain},
     {"further_message", &LinkModel::further_message},
     {"reduce_megabytes_per_second", &LinkModel::reduce_megabytes_per_second}}};
constexpr std::array<std::pair<std::string_view, Link LinkModel::*>, 4> links_of_model = {
    {{"shared", &LinkModel::shared},
     {"read", &LinkModel::read},
     {"device", &LinkModel::device},
     {"windows", &LinkModel::windows}}};
constexpr std::array<std::pair<std::string_view, MessageLink LinkModel::*>, 2> message_links_of_model = {
    {{"node", &LinkModel::node}, {"network", &LinkModel::network}}};
constexpr std::string_view by_all = "network_by_all";
constexpr std::array<Named<Link>, 2> numbers_of_link = {
    {{"latency_us", &Link::latency_us}, {"megabytes_per_second", &Link::megabytes_per_second}}};
constexpr std::array<Named<MessageLink>, 2> numbers_of_messages = {
    {{"latency_us", &MessageLink::latency_us}, {"megabytes_per_second", &MessageLink::megabytes_per_second}}};
constexpr std::array<Named<MessageLink>, 3> numbers_of_long_messages = {
    {{"long_from", &MessageLink::long_from},
     {"long_latency_us", &MessageLink::long_latency_us},
     {"long_megabytes_per_second", &MessageLink::long_megabytes_per_second}}};

template <class... Tables>
std::vector<std::string_view> names_in(const Tables&... tables) {
  std::vector<std::string_view> names;
  const auto add = [&](const auto& table) {
    for (const auto& [name, member] : table) names.push_back(name);
  };
  (add(tables), ...);
  return names;
}

/// Every name in `object` must be in `known`.
void check_names(const Json& object, std::string_view where, std::span<const std::string_view> known) {
  if (!object.is_object()) reject(fmt::format("{} must be an object", where));
  for (const auto& entry : object.items()) {
    if (std::ranges::find(known, entry.key()) != known.end()) continue;
    reject(fmt::format("unknown name \"{}\" in {}; {}", entry.key(), where, suggestion(entry.key(), known)));
  }
}

double positive(const Json& object, std::string_view where, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) reject(fmt::format("\"{}\" is missing in {}", name, where));
  if (!found->is_number() || !(found->get<double>() > 0)) {
    reject(fmt::format("\"{}\" in {} must be a number above 0", name, where));
  }
  return found->get<double>();
}

std::size_t count(const Json& object, std::string_view where, const std::string& name, std::size_t least) {
  const auto found = object.find(name);
  if (found == object.end()) reject(fmt::format("\"{}\" is missing in {}", name, where));
  if (!found->is_number_unsigned() || found->get<std::size_t>() < least) {
    reject(fmt::format("\"{}\" in {} must be a whole number, {} or more", name, where, least));
  }
  return found->get<std::size_t>();
}

std::string text(const Json& object, std::string_view where, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) reject(fmt::format("\"{}\" is missing in {}", name, where));
  if (!found->is_string()) reject(fmt::format("\"{}\" in {} must be a text", name, where));
  return found->get<std::string>();
}

template <class Numbers, class Table>
void read_numbers(const Json& json, std::string_view where, const Table& table, Numbers& numbers) {
  for (const auto& [name, member] : table) numbers.*member = positive(json, where, std::string(name));
}

Link read_link(const Json& json, std::string_view where) {
  check_names(json, where, names_in(numbers_of_link));
  Link link;
  read_numbers(json, where, numbers_of_link, link);
  return link;
}

MessageLink read_message_link(const Json& json, std::string_view where) {
  check_names(json, where, names_in(numbers_of_messages, numbers_of_long_messages));
  MessageLink link;
  read_numbers(json, where, numbers_of_messages, link);
  const bool has_long = std::ranges::any_of(names_in(numbers_of_long_messages),
                                            [&](std::string_view name) { return json.contains(name); });
  if (has_long) read_numbers(json, where, numbers_of_long_messages, link);
  return link;
}

void read_links(const Json& json, LinkModel& links) {
  std::vector<std::string_view> known = names_in(links_of_model, message_links_of_model, numbers_of_model);
  known.push_back(by_all);
  check_names(json, "\"links\"", known);
  for (const auto& [name, member] : links_of_model) {
    if (json.contains(name)) links.*member = read_link(json[name], name);
  }
  for (const auto& [name, member] : message_links_of_model) {
    if (json.contains(name)) links.*member = read_message_link(json[name], name);
  }
  if (json.contains(by_all)) {
    links.network_by_all = read_message_link(json[by_all], by_all);
  } else if (json.contains("network")) {
    links.network_by_all.reset();
  }
  if (json.contains("network")) links.to_next_gain = 1;
  for (const auto& [name, member] : numbers_of_model) {
    if (json.contains(name)) links.*member = positive(json, "\"links\"", std::string(name));
  }
}

Tuning::Machine read_machine(const Json& json) {
  constexpr std::string_view where = "\"machine\"";
  constexpr std::array<std::string_view, 7> names = {"mpi",   "processor",      "cores",  "nodes",
                                                     "ranks", "ranks_per_node", "crowded"};
  check_names(json, where, names);
  Tuning::Machine machine;
  const std::pair<const char*, std::string*> texts[] = {{"mpi", &machine.site.mpi},
                                                        {"processor", &machine.site.processor}};
  for (const auto& [name, value] : texts) {
    if (json.contains(name)) *value = text(json, where, name);
  }
  const std::pair<const char*, int*> counts[] = {{"cores", &machine.site.cores},
                                                 {"nodes", &machine.nodes},
                                                 {"ranks", &machine.ranks},
                                                 {"ranks_per_node", &machine.ranks_per_node}};
  for (const auto& [name, value] : counts) {
    if (json.contains(name)) *value = static_cast<int>(std::min(count(json, where, name, 1), max_ranks));
  }
  if (const auto crowded = json.find("crowded"); crowded != json.end()) {
    if (!crowded->is_boolean()) reject(fmt::format("\"crowded\" in {} must be true or false", where));
    machine.crowded = crowded->get<bool>();
  }
  return machine;
}

/// "auto" is a measurement of what the library chose: it says nothing about an algorithm, but chorus-bench writes it.
void check_algorithm(const Tuning::Measured& measured, std::string_view where) {
  std::vector<std::string_view> known = {"auto"};
  for (const Algorithm* algorithm : algorithms(measured.collective)) known.push_back(algorithm->name);
  if (std::ranges::find(known, measured.algorithm) != known.end()) return;
  reject(fmt::format("unknown algorithm \"{}\" of {} in {}; {}", measured.algorithm, name(measured.collective), where,
                     suggestion(measured.algorithm, known)));
}

Tuning::Measured read_measured(const Json& json, std::size_t index) {
  const std::string where = fmt::format("\"measured\"[{}]", index);
  if (!json.is_object()) reject(fmt::format("{} must be an object", where));
  const std::string collective = text(json, where, "collective");
  const std::optional<Collective> known = collective_named(collective);
  if (!known) {
    reject(fmt::format("unknown collective \"{}\" in {}; {}", collective, where,
                       suggestion(collective, collective_names())));
  }
  Tuning::Measured measured{.collective = *known, .algorithm = text(json, where, "algorithm")};
  check_algorithm(measured, where);
  const std::pair<const char*, int*> counts[] = {
      {"ranks", &measured.ranks}, {"nodes", &measured.nodes}, {"ranks_per_node", &measured.ranks_per_node}};
  for (const auto& [name, value] : counts) {
    if (!json.contains(name)) {
      reject(fmt::format("\"{}\" is missing in {}: say where it was measured", name, where));
    }
    *value = static_cast<int>(std::min(count(json, where, name, 1), max_ranks));
  }
  measured.bytes = count(json, where, "bytes", 0);
  measured.median_us = positive(json, where, "median_us");
  return measured;
}

/// The bytes of a call as chorus-bench counts them.
std::size_t benchmark_bytes(const Problem& problem) {
  const std::size_t bytes = problem.call.bytes();
  const auto ranks = static_cast<std::size_t>(problem.ranks);
  if (problem.call.collective == Collective::reduce_scatter_block) return bytes * ranks;  // of the whole input
  if (problem.call.collective == Collective::allgatherv) return bytes / ranks;            // of a block
  return bytes;
}

template <class Numbers, class Table>
void write_numbers(OrderedJson& json, const Table& table, const Numbers& numbers) {
  for (const auto& [name, member] : table) json[name] = numbers.*member;
}

OrderedJson json_of(const MessageLink& link) {
  OrderedJson json;
  write_numbers(json, numbers_of_messages, link);
  if (std::isfinite(link.long_from)) write_numbers(json, numbers_of_long_messages, link);
  return json;
}

/// Of `links` what is not as it is in `built_in`.
OrderedJson json_of(const LinkModel& links, const LinkModel& built_in) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, member] : links_of_model) {
    if (links.*member != built_in.*member) write_numbers(json[name], numbers_of_link, links.*member);
  }
  for (const auto& [name, member] : message_links_of_model) {
    if (links.*member != built_in.*member) json[name] = json_of(links.*member);
  }
  if (links.network_by_all) json[by_all] = json_of(*links.network_by_all);
  for (const auto& [name, member] : numbers_of_model) {
    if (links.*member != built_in.*member) json[name] = links.*member;
  }
  return json;
}

OrderedJson json_of(const Tuning::Machine& machine) {
  OrderedJson json;
  if (!machine.site.mpi.empty()) json["mpi"] = machine.site.mpi;
  if (!machine.site.processor.empty()) json["processor"] = machine.site.processor;
  if (machine.site.cores > 0) json["cores"] = machine.site.cores;
  if (machine.nodes > 0) json["nodes"] = machine.nodes;
  if (machine.ranks > 0) json["ranks"] = machine.ranks;
  if (machine.ranks_per_node > 0) json["ranks_per_node"] = machine.ranks_per_node;
  if (machine.crowded) json["crowded"] = *machine.crowded;
  return json;
}

/// Throws where an object has a name twice, of which one would be taken silently.
Json parsed(const std::string& text) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  return Json::parse(text, [&names](int /*depth*/, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second) {
      reject(fmt::format("{} is there twice in one object; leave it out once", value.dump()));
    }
    return true;
  });
}

}  // namespace

Tuning Tuning::parse(const std::string& text, const LinkModel& links, bool crowded) {
  Tuning tuning{.links = links, .measured = {}, .machine = {}};
  if (text.empty()) return tuning;
  Json json;
  try {
    json = parsed(text);
  } catch (const Json::exception& error) {
    const std::string_view message = error.what();  // "[json.exception...] parse error at line 1, column 2: ..."
    reject(std::string(message.substr(std::min(message.size(), message.find(']') + 2))));
  }
  constexpr std::array<std::string_view, 4> names = {"schema", "machine", "links", "measured"};
  check_names(json, "the file", names);
  if (!json.contains("schema")) reject("\"schema\" is missing in the file");
  if (json["schema"] != 1) reject("\"schema\" must be 1");
  if (json.contains("machine")) tuning.machine = read_machine(json["machine"]);
  LinkModel of_file = links;
  if (json.contains("links")) read_links(json["links"], of_file);
  const bool shared_alike = tuning.machine.crowded.value_or(crowded) == crowded;
  if (shared_alike) tuning.links = of_file;
  const Json measured = json.value("measured", Json::array());
  if (!measured.is_array()) reject("\"measured\" must be an array");
  for (std::size_t index = 0; index < measured.size(); ++index) {
    tuning.measured.push_back(read_measured(measured[index], index));
  }
  if (!shared_alike) tuning.measured.clear();
  return tuning;
}

std::string Tuning::to_json() const {
  OrderedJson json = {{"schema", 1}};
  if (const OrderedJson of_machine = json_of(machine); !of_machine.empty()) json["machine"] = of_machine;
  const OrderedJson of_links = json_of(links, LinkModel::of({}, machine.crowded.value_or(false)));
  if (!of_links.empty()) json["links"] = of_links;
  OrderedJson rows = OrderedJson::array();
  for (const Measured& row : measured) {
    rows.push_back({{"collective", name(row.collective)},
                    {"algorithm", row.algorithm},
                    {"ranks", row.ranks},
                    {"nodes", row.nodes},
                    {"ranks_per_node", row.ranks_per_node},
                    {"bytes", row.bytes},
                    {"median_us", row.median_us}});
  }
  std::string text = json.dump(1, ' ', false, OrderedJson::error_handler_t::replace);
  if (rows.empty()) return text + "\n";
  text.resize(text.find_last_of('\n'));  // each row on a line of its own
  const char* separator = ",\n \"measured\": [\n  ";
  for (const OrderedJson& row : rows) text += std::exchange(separator, ",\n  ") + row.dump();
  return text + "\n ]\n}\n";
}

std::optional<double> Tuning::microseconds(const Problem& problem, std::string_view algorithm) const {
  const double size = std::log2(1.0 + static_cast<double>(benchmark_bytes(problem)));
  const auto distance = [&](const Measured& row) {
    return std::abs(std::log2(1.0 + static_cast<double>(row.bytes)) - size);
  };
  const Measured* nearest_row = nullptr;
  for (const Measured& row : measured) {
    const bool same = row.collective == problem.call.collective && row.algorithm == algorithm;
    const bool here =
        row.ranks == problem.ranks && row.nodes == problem.nodes && row.ranks_per_node == problem.largest_node;
    if (same && here && distance(row) <= 1 && (nearest_row == nullptr || distance(row) < distance(*nearest_row)))
      nearest_row = &row;
  }
  if (nearest_row == nullptr) return std::nullopt;
  return nearest_row->median_us;
}

}  // namespace chorus
