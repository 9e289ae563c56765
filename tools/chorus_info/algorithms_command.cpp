// SPDX-License-Identifier: Apache-2.0
#include "algorithm.hpp"
#include "base/names.hpp"
#include "command.hpp"

#include <fmt/format.h>

namespace chorus::info {

Action add_algorithms(CLI::App& command) {
  command.footer("Force one by CHORUS_<COLLECTIVE>=NAME, or by CollectiveOptions::algorithm in a call.");
  return [](const Communicator& world) {
    if (world.rank() != 0) return;
    for (const std::string_view collective : collective_names()) {
      fmt::print("{}\n", collective);
      for (const Algorithm* algorithm : algorithms(*collective_named(collective))) {
        fmt::print("  {:<22}{}\n  {:<22}source: {}\n", algorithm->name, algorithm->summary, "", algorithm->source);
      }
    }
  };
}

}  // namespace chorus::info
