// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/environment_variables.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace chorus {

/// Throws Error{invalid_environment}: variable `name`, which has `value`, and `why` that is wrong.
[[noreturn]] void reject_variable(std::string_view name, std::string_view value, std::string_view why);

/// The whole number, 0 or more, that `text` is, and nothing else; nothing where it is none that fits.
[[nodiscard]] std::optional<int> whole_number(std::string_view text) noexcept;

/// The value of `name`. Throws Error{invalid_environment} where it is not set, with `remedy`.
[[nodiscard]] std::string required(const EnvironmentVariables& variables, const std::string& name,
                                   std::string_view remedy);

/// The whole number, 0 or more, in `name`; nothing where it is not set.
/// Throws Error{invalid_environment} where it is something else.
[[nodiscard]] std::optional<int> number_in(const EnvironmentVariables& variables, const std::string& name);

}  // namespace chorus
