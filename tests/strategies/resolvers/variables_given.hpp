// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/environment_variables.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace chorus::test {

/// An environment in which these variables are set, and no others.
inline EnvironmentVariables variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace chorus::test
