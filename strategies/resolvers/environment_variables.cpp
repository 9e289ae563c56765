// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/environment_variables.hpp>

#include <cstdlib>

namespace chorus {

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace chorus
