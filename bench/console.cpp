// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace chorus::bench {

void Console::show(const std::string& what) { progress_.show(fmt::format("{} ({} of {})", what, ++done_, steps_)); }

void Console::say(const std::string& text) {
  progress_.clear();
  if (rank_ != 0) return;
  fmt::print("{}", text);
  std::fflush(stdout);
}

void Console::warn(const std::string& text) {
  progress_.clear();
  if (rank_ == 0) fmt::print(stderr, "{}: {}\n", program_, text);
}

}  // namespace chorus::bench
