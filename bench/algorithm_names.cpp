// SPDX-License-Identifier: Apache-2.0
#include "algorithm_names.hpp"

#include "algorithm.hpp"
#include "base/names.hpp"

namespace chorus::bench {

std::vector<std::string_view> algorithm_names(std::string_view collective) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : algorithms(collective_named(collective).value())) names.push_back(algorithm->name);
  return names;
}

}  // namespace chorus::bench
