// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace chorus::test {

/// What this process has of the system.
struct Footprint {
  std::ptrdiff_t descriptors = 0;  ///< that are open
  double resident_mb = 0;          ///< memory in use
};

[[nodiscard]] inline Footprint footprint() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return {std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()),
          static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6};
}

}  // namespace chorus::test
