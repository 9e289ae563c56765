// SPDX-License-Identifier: Apache-2.0
#include "option_checks.hpp"

#include <fmt/format.h>

#include <string>

namespace chorus::bench {

CLI::Validator whole_number() {
  const auto check = [](const std::string& text) {
    const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    const bool digits = text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string::npos;
    return digits ? std::string() : fmt::format("a whole number is wanted, not {}", text);
  };
  return {check, ""};
}

CLI::Validator file_name() {
  return {[](const std::string& text) { return std::string(text.empty() ? "an empty name is no file" : ""); }, ""};
}

}  // namespace chorus::bench
