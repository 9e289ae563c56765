// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <functional>
#include <optional>
#include <string>

namespace chorus {

/// Looks up an environment variable: its value, or nothing where it is not set. What reads the environment takes such a
/// function, so that a test or a launcher of one's own can give another one.
using EnvironmentVariables = std::function<std::optional<std::string>(const std::string& name)>;

/// Looks `name` up in the environment of this process.
///
/// Order    no other thread may change the environment meanwhile.
[[nodiscard]] CHORUS_API std::optional<std::string> process_environment(const std::string& name);

}  // namespace chorus
