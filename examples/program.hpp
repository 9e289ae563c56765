// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/chorus.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace examples {

/// A wrong input, known to every rank: rank 0 says it and all ranks end in good order.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A number from `least` to `most`: CLI::Range lets NaN through.
[[nodiscard]] inline CLI::Validator finite_range(double least, double most) {
  const auto check = [=](const std::string& text) {
    double number = 0;
    const bool inside = CLI::detail::lexical_cast(text, number) && number >= least && number <= most;
    return inside ? std::string() : fmt::format("Value {} not in range {} to {}", text, least, most);
  };
  return {check, fmt::format("FLOAT in [{} - {}]", least, most)};
}

/// Of a file or folder to be written.
[[nodiscard]] inline CLI::Validator no_empty_name() {
  return {[](const std::string& text) { return std::string(text.empty() ? "an empty name is no file" : ""); }, ""};
}

/// Reads the command line; gives the exit code where the program is to end at once (help).
/// Throws   InputError for a wrong option.
[[nodiscard]] inline std::optional<int> parse(CLI::App& options, int argc, char** argv,
                                              const chorus::Communicator& world) {
  try {
    options.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::ostream silent(nullptr);
    if (error.get_exit_code() == EXIT_SUCCESS) return options.exit(error, world.rank() == 0 ? std::cout : silent);
    std::string unknown;  // which CLI11 says in the reverse order
    for (const std::string& word : options.remaining()) unknown += " " + word;
    if (unknown.empty()) throw InputError(fmt::format("{}; --help tells more", error.what()));
    throw InputError(fmt::format("not understood:{}; --help tells more", unknown));
  }
}

/// Calls `body(world)` and gives the exit code of the program `name`.
template <class Body>
[[nodiscard]] int run_program(const char* name, const Body& body) {
  const chorus::Environment environment;
  try {
    const auto world = chorus::Communicator::world();
    try {
      return body(world);
    } catch (const InputError& error) {
      if (world.rank() == 0) fmt::print(stderr, "{}: {}\n", name, error.what());
      return EXIT_FAILURE;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);  // leaving in good order would wait for ranks that wait for this one: mpirun ends them
  }
}

/// Adds up the time its calls take.
class Stopwatch {
 public:
  template <class Call>
  void operator()(const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    elapsed_ += std::chrono::steady_clock::now() - start;
  }
  [[nodiscard]] double seconds() const noexcept { return std::chrono::duration<double>(elapsed_).count(); }

 private:
  std::chrono::steady_clock::duration elapsed_{};
};

}  // namespace examples
