// SPDX-License-Identifier: Apache-2.0
#include "algorithm_names.hpp"

#include "algorithm.hpp"
#include "base/names.hpp"
#include "transport/communicator_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chorus::bench {

std::vector<std::string_view> algorithm_names(std::string_view collective, chorus::Memory memory) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : algorithms(collective_named(collective).value())) {
    if (algorithm->memory == memory) names.push_back(algorithm->name);
  }
  return names;
}

std::string_view chosen_algorithm(const Communicator& world) {
  const auto& choices = world.state().choices;
  const auto choice = std::ranges::find_if(choices, [](const auto& each) { return each.algorithm != nullptr; });
  return choice == choices.end() ? std::string_view() : choice->algorithm->name;
}

std::string listing() {
  std::string text;
  for (const std::string_view collective : collective_names()) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", collective);
    for (const Algorithm* algorithm : algorithms(collective_named(collective).value())) {
      text += fmt::format("  {:<22}{}\n", algorithm->name, algorithm->summary);
    }
  }
  return text;
}

}  // namespace chorus::bench
