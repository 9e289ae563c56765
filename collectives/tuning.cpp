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
#include <string_view>

namespace chorus {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_ranks = std::numeric_limits<int>::max();

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::invalid_environment, fmt::format("the tuning file is not used: {}", why));
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

void read_links(const Json& json, LinkModel& links) {
  const std::pair<std::string_view, Link*> of_link[] = {
      {"shared", &links.shared}, {"read", &links.read}, {"node", &links.node}, {"network", &links.network}};
  const std::pair<std::string_view, double*> of_number[] = {
      {"shared_peer_us", &links.shared_peer_us},
      {"far_megabytes_per_second", &links.far_megabytes_per_second},
      {"long_read_megabytes_per_second", &links.long_read_megabytes_per_second},
      {"task_us", &links.task_us},
      {"further_message", &links.further_message},
      {"reduce_megabytes_per_second", &links.reduce_megabytes_per_second}};
  std::vector<std::string_view> known;
  for (const auto& [name, link] : of_link) known.push_back(name);
  for (const auto& [name, number] : of_number) known.push_back(name);
  check_names(json, "\"links\"", known);
  for (const auto& [name, link] : of_link) {
    const auto found = json.find(name);
    if (found == json.end()) continue;
    constexpr std::array<std::string_view, 2> names = {"latency_us", "megabytes_per_second"};
    check_names(*found, name, names);
    *link = {positive(*found, name, "latency_us"), positive(*found, name, "megabytes_per_second")};
  }
  for (const auto& [name, number] : of_number) {
    if (json.contains(name)) *number = positive(json, "\"links\"", std::string(name));
  }
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
  measured.ranks = static_cast<int>(std::min(count(json, where, "ranks", 1), max_ranks));
  measured.bytes = count(json, where, "bytes", 0);
  measured.median_us = positive(json, where, "median_us");
  return measured;
}

/// The bytes of a call as chorus-bench counts them.
std::size_t benchmark_bytes(const Problem& problem) {
  const std::size_t bytes = problem.call.bytes();
  const bool whole_input = problem.call.collective == Collective::reduce_scatter_block;
  return whole_input ? bytes * static_cast<std::size_t>(problem.ranks) : bytes;
}

}  // namespace

Tuning Tuning::parse(const std::string& text, const LinkModel& links) {
  Tuning tuning{.links = links, .measured = {}};
  if (text.empty()) return tuning;
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    const std::string_view message = error.what();  // "[json.exception...] parse error at line 1, column 2: ..."
    reject(std::string(message.substr(std::min(message.size(), message.find(']') + 2))));
  }
  constexpr std::array<std::string_view, 3> names = {"schema", "links", "measured"};
  check_names(json, "the file", names);
  if (!json.contains("schema")) reject("\"schema\" is missing in the file");
  if (json["schema"] != 1) reject("\"schema\" must be 1");
  if (json.contains("links")) read_links(json["links"], tuning.links);
  const Json measured = json.value("measured", Json::array());
  if (!measured.is_array()) reject("\"measured\" must be an array");
  for (std::size_t index = 0; index < measured.size(); ++index) {
    tuning.measured.push_back(read_measured(measured[index], index));
  }
  return tuning;
}

std::optional<double> Tuning::microseconds(const Problem& problem, std::string_view algorithm) const {
  const double size = std::log2(1.0 + static_cast<double>(benchmark_bytes(problem)));
  const auto distance = [&](const Measured& row) {
    return std::abs(std::log2(1.0 + static_cast<double>(row.bytes)) - size);
  };
  const Measured* nearest_row = nullptr;
  for (const Measured& row : measured) {
    const bool same = row.collective == problem.call.collective && row.ranks == problem.ranks &&
                      row.algorithm == algorithm && distance(row) <= 1;
    if (same && (nearest_row == nullptr || distance(row) < distance(*nearest_row))) nearest_row = &row;
  }
  if (nearest_row == nullptr) return std::nullopt;
  return nearest_row->median_us;
}

}  // namespace chorus
