// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace chorus::tune {

/// What the command line asks for.
struct TuneOptions {
  std::vector<bench::Options> subjects;  ///< what is measured of each collective
  bool exhaustive = false;               ///< every size, and the times go into the file
  bool sizes_named = false;              ///< by the user: all of them are measured, or refused
  std::string file;                      ///< that is written
};

/// Reads the command line. Empty where the user only asked for a text (help or the version), which is then in `text`.
/// Throws   bench::Refusal.
[[nodiscard]] std::optional<TuneOptions> parse_options(int argc, const char* const* argv, std::string& text);

}  // namespace chorus::tune
