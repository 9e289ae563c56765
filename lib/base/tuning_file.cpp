// SPDX-License-Identifier: Apache-2.0
#include "base/tuning_file.hpp"

#include "base/installation.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace chorus {
namespace {

using Json = nlohmann::json;

/// The folder of the library or the program that this code is in; empty where that cannot be found out.
std::filesystem::path folder_of_this_code() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&installed_tuning_file), &info) == 0) return {};
  std::error_code error;
  const auto file = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::filesystem::path() : file.parent_path();
}

/// The prefix that `folder` is below as an installation has it; empty where it is not.
std::string prefix_above(const std::string& folder) {
  for (const std::string& below :
       {fmt::format("/{}/chorus", installation::libdir), fmt::format("/{}", installation::libdir),
        fmt::format("/{}", installation::bindir)}) {
    if (folder.ends_with(below)) return folder.substr(0, folder.size() - below.size());
  }
  return {};
}

/// The object of that name in `json`; one without names where there is none.
Json part(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found != json.end() && found->is_object() ? *found : Json::object();
}

/// What `object` has by that name, and `otherwise` where it has nothing or something else.
template <class Value>
Value value(const Json& object, const char* name, const Value& otherwise) {
  try {
    return object.value(name, otherwise);
  } catch (const Json::exception&) {
    return otherwise;
  }
}

}  // namespace

std::string difference(const Site& measured, const Site& here) {
  constexpr const char* text = "it was measured {}, and this is {}";
  if (!measured.mpi.empty() && !here.mpi.empty() && measured.mpi != here.mpi) {
    return fmt::format(text, "with " + measured.mpi, here.mpi);
  }
  if (!measured.processor.empty() && !here.processor.empty() && measured.processor != here.processor) {
    return fmt::format(text, "on " + measured.processor, here.processor);
  }
  if (measured.cores > 0 && here.cores > 0 && measured.cores != here.cores) {
    return fmt::format(text, fmt::format("on machines of {} cores", measured.cores),
                       fmt::format("one of {}", here.cores));
  }
  return {};
}

bool TuningFile::gives_network(const Job& job) const {
  const Json json = Json::parse(text, nullptr, false);
  const Json links = part(json, "links");
  if (!links.contains("network")) return false;
  const Json machine = part(json, "machine");
  if (value(machine, "crowded", job.crowded) != job.crowded) return false;
  const auto covers = [&](const char* name, int number) { return 2.0 * value(machine, name, number) >= number; };
  if (!covers("nodes", job.nodes) || !covers("ranks_per_node", job.senders)) return false;
  const Site measured = {.mpi = value(machine, "mpi", std::string()),
                         .processor = value(machine, "processor", std::string()),
                         .cores = value(machine, "cores", 0)};
  return difference(measured, here).empty();
}

std::string installed_tuning_file() {
  const std::string found = prefix_above(folder_of_this_code().string());
  const std::filesystem::path prefix = found.empty() ? installation::prefix : found;
  return (prefix / installation::sysconfdir / "chorus" / "tuning.json").string();  // an absolute one stays as it is
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  file.peek();  // a folder can be opened, but not read
  if (!file) return {};
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string why_empty(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return "it is a folder";
  if (!std::filesystem::exists(path, error)) {
    return error ? "the file cannot be read: " + error.message() : "there is no such file";
  }
  return std::ifstream(path) ? "the file is empty" : fmt::format("the file cannot be read: {}", std::strerror(errno));
}

}  // namespace chorus
