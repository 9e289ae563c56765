// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>

#include <CLI/CLI.hpp>
#include <functional>
#include <stdexcept>

namespace chorus::info {

/// What a subcommand does once the command line is read. Called by every rank; rank 0 alone speaks.
/// Throws UserError, on every rank or on rank 0 when nothing is left to do for the others.
using Action = std::function<void(const Communicator& world)>;

/// What the user can put right: said in one line, exit code 2.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `chorus-info topology` and so on. Each subcommand is one such function, which adds its options to `command`, and one
/// row of the table in main.cpp.
[[nodiscard]] Action add_topology(CLI::App& command);
[[nodiscard]] Action add_explain(CLI::App& command);
[[nodiscard]] Action add_algorithms(CLI::App& command);
[[nodiscard]] Action add_transports(CLI::App& command);

}  // namespace chorus::info
