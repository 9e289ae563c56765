// SPDX-License-Identifier: Apache-2.0
#include "given_file.hpp"

#include "base/tuning_file.hpp"
#include "transport/site.hpp"
#include "tunings.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace chorus::tune {
namespace {

constexpr const char* variable = "CHORUS_TUNING_FILE";

/// Empty where nothing is wrong with it.
std::string what_is_wrong_with(const std::string& path) {
  const TuningFile file = {.path = path, .text = contents_of(path), .installed = false, .here = this_site()};
  if (file.text.empty()) return "the file is empty or cannot be read";
  try {
    static_cast<void>(Tunings(file, {}, {}, false));
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace

std::string leave_unusable_file() {
  const char* const path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return {};
  const std::string wrong = what_is_wrong_with(path);
  if (wrong.empty()) return {};
  std::string why = fmt::format("goes without {}={}: {}", variable, path, wrong);
  unsetenv(variable);
  return why;
}

}  // namespace chorus::tune
