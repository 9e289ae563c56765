// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"

#include <CLI/CLI.hpp>

namespace chorus::bench {

/// Of an option that takes a number without a point, which may be negative.
[[nodiscard]] CLI::Validator whole_number();
/// Of an option that takes the name of a file to write.
[[nodiscard]] CLI::Validator file_name();
/// Of an option that takes sizes, which an empty text, as of a variable that a script has not set, is not.
[[nodiscard]] CLI::Validator some_size();

/// What to say of `error`: what is not understood, where that is what is wrong, and which option may have been meant.
[[nodiscard]] Refusal refusal(const CLI::App& app, const CLI::ParseError& error);

/// Of `all` with memory of devices leaves the collectives that take it, and, where NCCL is compared with, that NCCL
/// has. Throws   Refusal of a collective or measurement that takes memory of the host alone, and of NCCL beside such
/// memory.
void interpret_device(Options& options);
/// Throws   Refusal where the algorithm that is named is one of `row`, but for the other place of memory.
void check_place(const Options& options, const Row& row);

}  // namespace chorus::bench
