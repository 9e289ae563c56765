// SPDX-License-Identifier: Apache-2.0
#include "base/tuning_file.hpp"

#include "base/installation.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace chorus {
namespace {

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

}  // namespace

bool TuningFile::gives(std::string_view name) const {
  return text.find(fmt::format("\"{}\"", name)) != std::string::npos;
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

}  // namespace chorus
