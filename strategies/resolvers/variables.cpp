// SPDX-License-Identifier: Apache-2.0
#include "resolvers/variables.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <charconv>

namespace chorus {

void reject_variable(std::string_view name, std::string_view value, std::string_view why) {
  throw Error(ErrorCode::invalid_environment, fmt::format("environment variable {}={}: {}", name, value, why));
}

std::optional<int> whole_number(std::string_view text) noexcept {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 0) return std::nullopt;
  return number;
}

std::string required(const EnvironmentVariables& variables, const std::string& name, std::string_view remedy) {
  if (std::optional<std::string> value = variables(name)) return *std::move(value);
  throw Error(ErrorCode::invalid_environment, fmt::format("environment variable {} is not set: {}", name, remedy));
}

std::optional<int> number_in(const EnvironmentVariables& variables, const std::string& name) {
  const std::optional<std::string> value = variables(name);
  if (!value) return std::nullopt;
  const std::optional<int> number = whole_number(*value);
  if (!number) reject_variable(name, *value, "expected a whole number, 0 or more");
  return number;
}

}  // namespace chorus
