// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace chorus::bench {

/// Of an option that takes a number without a point, which may be negative.
[[nodiscard]] CLI::Validator whole_number();
/// Of an option that takes the name of a file to write.
[[nodiscard]] CLI::Validator file_name();

}  // namespace chorus::bench
