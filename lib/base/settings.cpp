// SPDX-License-Identifier: Apache-2.0
#include "base/settings.hpp"

#include "base/names.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {
namespace {

constexpr std::string_view prefix = "CHORUS_";
// What the module files of clusters set for a package; these are no settings.
constexpr std::array<std::string_view, 10> of_modules = {"ROOT", "HOME", "DIR", "PREFIX",  "PATH",
                                                         "BIN",  "LIB",  "INC", "INCLUDE", "VERSION"};
constexpr std::array<std::string_view, 4> shared_memory_names = {"auto", "memfd", "named", "off"};

[[noreturn]] void reject(std::string_view variable, std::string_view value, std::string_view expected) {
  throw Error(ErrorCode::invalid_environment, fmt::format("environment variable {}={}: {}", variable, value, expected));
}

std::chrono::nanoseconds parse_seconds(std::string_view variable, std::string_view value) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  const bool huge = error == std::errc::result_out_of_range && !value.starts_with('-');  // or as near to 0
  const bool number = (error == std::errc() && std::isfinite(seconds) && seconds >= 0) || huge;
  if (!number || end != value.data() + value.size()) {
    reject(variable, value, "expected a number of seconds, 0 for never, such as 2.5");
  }
  if (huge || seconds > 1e9) reject(variable, value, "expected no more than 1e9 seconds; 0 stands for never");
  return std::chrono::nanoseconds(std::max(std::llround(seconds * 1e9), seconds > 0 ? 1LL : 0LL));
}

std::size_t parse_slot_bytes(std::string_view variable, std::string_view value) {
  const std::optional<std::size_t> bytes = parse_bytes(value);
  if (!bytes || *bytes < 1024 || *bytes > std::size_t{1} << 26U || *bytes % 64 != 0) {
    reject(variable, value, "expected a length in bytes from 1k to 64M that is a multiple of 64, such as 256k");
  }
  return *bytes;
}

int parse_node_ranks(std::string_view variable, std::string_view value) {
  int ranks = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ranks);
  if (error != std::errc() || end != value.data() + value.size() || ranks < 1) {
    reject(variable, value, "expected a number of ranks, 1 or more");
  }
  return ranks;
}

std::vector<int> parse_domains(std::string_view variable, std::string_view value) {
  constexpr int most_ranks = 1 << 20;  // so that the product fits into an int
  constexpr std::size_t most_levels = 5;
  std::vector<int> radices;
  int ranks = 1;
  const char* const end = value.data() + value.size();
  for (const char* at = value.data();; ++at) {
    int radix = 0;
    const auto [after, error] = std::from_chars(at, end, radix);
    const bool last = after == end;
    if (error != std::errc() || radix < 2 || radix > most_ranks / ranks || (!last && *after != 'x') ||
        radices.size() == most_levels || (last && radices.empty())) {
      reject(variable, value, "expected 2 to 5 numbers of 2 or more, from the inside out, such as 8x4x2");
    }
    radices.push_back(radix);
    ranks *= radix;
    if (last) return radices;
    at = after;
  }
}

std::vector<int> parse_gpus(std::string_view variable, std::string_view value) {
  std::vector<int> gpus;
  const char* const end = value.data() + value.size();
  for (const char* at = value.data();; ++at) {
    int gpu = -1;
    const auto [after, error] = std::from_chars(at, end, gpu);
    if (error != std::errc() || gpu < 0 || (after != end && *after != ',')) {
      reject(variable, value, "expected the number of a GPU for each rank of a node, such as 0,0,1,1");
    }
    gpus.push_back(gpu);
    if (after == end) return gpus;
    at = after;
  }
}

using Setter = void (*)(Settings&, std::string_view variable, std::string_view value);

void set_shared_memory(Settings& settings, std::string_view variable, std::string_view value) {
  const auto found = std::ranges::find(shared_memory_names, value);
  if (found == shared_memory_names.end()) {
    reject(variable, value, suggestion(value, shared_memory_names));
  }
  settings.shared_memory = static_cast<SharedMemory>(found - shared_memory_names.begin());
}

void set_compare(Settings& settings, std::string_view variable, std::string_view value) {
  if (value != "collective" && value != "off") reject(variable, value, "expected collective or off");
  settings.compare = value == "collective";
}

void set_log(Settings& settings, std::string_view variable, std::string_view value) {
  if (value != "info" && value != "off") reject(variable, value, "expected info or off");
  settings.log = value == "info";
}

bool parse_switch(std::string_view variable, std::string_view value) {
  if (value != "0" && value != "1") reject(variable, value, "expected 1 or 0");
  return value == "1";
}

/// For what every process reads for itself.
void check_switch(Settings& /*settings*/, std::string_view variable, std::string_view value) {
  static_cast<void>(parse_switch(variable, value));
}

void check_file(Settings& /*settings*/, std::string_view variable, std::string_view value) {
  if (value.empty()) reject(variable, value, "expected the file of a library");
}

constexpr std::pair<std::string_view, Setter> variables[] = {
    {"CHORUS_TIMEOUT", [](Settings& s, auto variable, auto value) { s.timeout = parse_seconds(variable, value); }},
    {"CHORUS_STALL_WARNING",
     [](Settings& s, auto variable, auto value) { s.stall_warning = parse_seconds(variable, value); }},
    {"CHORUS_SHARED_MEMORY", set_shared_memory},
    {"CHORUS_SLOT_BYTES",
     [](Settings& s, auto variable, auto value) { s.slot_bytes = parse_slot_bytes(variable, value); }},
    {"CHORUS_SINGLE_COPY",
     [](Settings& s, auto variable, auto value) { s.single_copy = parse_switch(variable, value); }},
    {"CHORUS_NODE_RANKS",
     [](Settings& s, auto variable, auto value) { s.node_ranks = parse_node_ranks(variable, value); }},
    {"CHORUS_DOMAINS", [](Settings& s, auto variable, auto value) { s.domains = parse_domains(variable, value); }},
    {"CHORUS_GPUS", [](Settings& s, auto variable, auto value) { s.gpus = parse_gpus(variable, value); }},
    {"CHORUS_TUNING_FILE", [](Settings& s, auto, auto value) { s.tuning.path = value; }},
    {"CHORUS_CHECK", set_compare},
    {"CHORUS_DETERMINISTIC",
     [](Settings& s, auto variable, auto value) { s.deterministic = parse_switch(variable, value); }},
    {"CHORUS_REPRODUCIBLE",
     [](Settings& s, auto variable, auto value) { s.reproducible = parse_switch(variable, value); }},
    {"CHORUS_LOG", set_log},
    {"CHORUS_DISABLE", [](Settings& s, auto variable, auto value) { s.disabled = parse_switch(variable, value); }},
    {"CHORUS_PROGRESS_THREAD", check_switch},
    {"CHORUS_REPORT", check_switch},
    {"CHORUS_CUDA_LIBRARY", check_file},
    {"CHORUS_NCCL_LIBRARY", check_file},
    {"CHORUS_NVML_LIBRARY", check_file},
};

void apply(Settings& settings, std::string_view variable, std::string_view value) {
  std::vector<std::string> known;
  for (int collective = 0; collective < collective_count; ++collective) {
    known.push_back(variable_of(static_cast<Collective>(collective)));
    if (known.back() != variable) continue;
    settings.algorithm[static_cast<std::size_t>(collective)] = value;
    return;
  }
  for (const auto& [name, set] : variables) {
    if (name == variable) return set(settings, variable, value);
    known.emplace_back(name);
  }
  std::vector<std::string_view> names;  // without what they have in common, which makes none look like another
  for (const std::string& one : known) names.push_back(std::string_view(one).substr(prefix.size()));
  const std::string_view like = nearest(variable.substr(prefix.size()), names);
  throw Error(ErrorCode::invalid_environment,
              fmt::format("unknown environment variable {}; {}", variable,
                          like.empty() ? fmt::format("there are, each after {}: {}", prefix, joined(names))
                                       : fmt::format("did you mean {}{}?", prefix, like)));
}

}  // namespace

std::string variable_of(Collective collective) {
  std::string variable = fmt::format("{}{}", prefix, name(collective));
  std::ranges::transform(variable, variable.begin(), [](unsigned char letter) { return std::toupper(letter); });
  return variable;
}

Settings Settings::parse(const char* const* environment) {
  Settings settings;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
    if (std::ranges::find(of_modules, entry.substr(prefix.size(), equals - prefix.size())) != of_modules.end())
      continue;
    apply(settings, entry.substr(0, equals), entry.substr(equals + 1));
  }
  for (std::string& algorithm : settings.algorithm) {
    if (settings.disabled && algorithm.empty()) algorithm = "native";
  }
  return settings;
}

Settings Settings::of_this_process() {
  Settings settings = parse(environ);
  TuningFile& tuning = settings.tuning;
  tuning.installed = tuning.path.empty();
  if (tuning.installed) tuning.path = installed_tuning_file();
  tuning.text = contents_of(tuning.path);
  if (!tuning.text.empty()) return settings;
  if (!tuning.installed) {
    reject("CHORUS_TUNING_FILE", tuning.path, why_empty(tuning.path) + "; name a file that rank 0 can read");
  }
  tuning = {};
  return settings;
}

Settings Settings::before_agreement() {
  try {
    return parse(environ);
  } catch (const Error&) {
    return {};
  }
}

std::string Settings::to_json() const {
  const nlohmann::json json = {{"algorithm", algorithm},
                               {"timeout_ns", timeout.count()},
                               {"stall_warning_ns", stall_warning.count()},
                               {"shared_memory", shared_memory},
                               {"slot_bytes", slot_bytes},
                               {"single_copy", single_copy},
                               {"node_ranks", node_ranks},
                               {"domains", domains},
                               {"gpus", gpus},
                               {"tuning_path", tuning.path},
                               {"tuning_text", tuning.text},
                               {"tuning_installed", tuning.installed},
                               {"mpi", tuning.here.mpi},
                               {"processor", tuning.here.processor},
                               {"cores", tuning.here.cores},
                               {"compare", compare},
                               {"deterministic", deterministic},
                               {"reproducible", reproducible},
                               {"log", log}};
  // A value or file that is not UTF-8 still gets to where it is rejected by name.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Settings Settings::from_json(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  Settings settings;
  json.at("algorithm").get_to(settings.algorithm);
  settings.timeout = std::chrono::nanoseconds(json.at("timeout_ns").get<std::int64_t>());
  settings.stall_warning = std::chrono::nanoseconds(json.at("stall_warning_ns").get<std::int64_t>());
  json.at("shared_memory").get_to(settings.shared_memory);
  json.at("slot_bytes").get_to(settings.slot_bytes);
  json.at("single_copy").get_to(settings.single_copy);
  json.at("node_ranks").get_to(settings.node_ranks);
  json.at("domains").get_to(settings.domains);
  json.at("gpus").get_to(settings.gpus);
  json.at("tuning_path").get_to(settings.tuning.path);
  json.at("tuning_text").get_to(settings.tuning.text);
  json.at("tuning_installed").get_to(settings.tuning.installed);
  json.at("mpi").get_to(settings.tuning.here.mpi);
  json.at("processor").get_to(settings.tuning.here.processor);
  json.at("cores").get_to(settings.tuning.here.cores);
  json.at("compare").get_to(settings.compare);
  json.at("deterministic").get_to(settings.deterministic);
  json.at("reproducible").get_to(settings.reproducible);
  json.at("log").get_to(settings.log);
  return settings;
}

}  // namespace chorus
