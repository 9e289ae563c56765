// SPDX-License-Identifier: Apache-2.0
#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.hpp"
#include "command.hpp"

namespace {

using chorus::info::Action;

constexpr int user_error = 2;

struct Command {
  const char* name;
  const char* description;
  Action (*add)(CLI::App&);
};

constexpr Command commands[] = {
    {"topology", "show the machine and where the ranks are on it", &chorus::info::add_topology},
    {"explain", "show which algorithm a call gets, and why", &chorus::info::add_explain},
    {"algorithms", "list the algorithms", &chorus::info::add_algorithms},
    {"transports", "show how the ranks reach each other", &chorus::info::add_transports},
};

/// What is wrong with the first word, empty where there is none, as the name of a command; empty if nothing is.
std::string unknown_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  if (word.empty()) return fmt::format("a command is missing; there are {} (see --help)", chorus::joined(names));
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return {};
  return fmt::format("there is no command {}; {}", word, chorus::suggestion(word, names));
}

int run(const chorus::Communicator& world, int argc, char** argv) {
  CLI::App app("Shows what chorus knows about machines and ranks. Runs alone or under mpirun.");
  app.require_subcommand(1);
  app.set_version_flag("--version", "chorus-info " CHORUS_VERSION);
  Action action;
  for (const Command& command : commands) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.description);
    subcommand->callback([&action, added = command.add(*subcommand)] { action = added; });
  }
  std::ostream silent(nullptr);
  const bool speaks = world.rank() == 0;
  const auto refuse = [&](const std::string& why) {
    if (speaks) fmt::print(stderr, "chorus-info: {}\n", why);
    return user_error;
  };
  try {
    if (const std::string wrong = unknown_command(argc > 1 ? argv[1] : ""); !wrong.empty()) return refuse(wrong);
    app.parse(argc, argv);
    action(world);
    return EXIT_SUCCESS;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, speaks ? std::cout : silent);  // --help
    const std::vector<std::string> unknown = app.remaining(true);  // which CLI11 says in the reverse order
    if (unknown.empty()) return refuse(fmt::format("{} (see --help)", error.what()));
    std::vector<std::string> known;
    for (const CLI::App* const each : app.get_subcommands()) {
      for (const CLI::Option* const option : each->get_options()) known.push_back(option->get_name());
    }
    return refuse(fmt::format("{} (see --help)", chorus::not_understood(unknown, known)));
  } catch (const chorus::info::UserError& error) {
    return refuse(error.what());
  } catch (const chorus::Error& error) {
    if (error.code() != chorus::ErrorCode::invalid_environment) throw;
    return refuse(error.message());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const chorus::Environment environment;
    try {
      return run(chorus::Communicator::world(), argc, argv);
    } catch (const std::exception& error) {
      fmt::print(stderr, "chorus-info: {}\n", error.what());
      std::fflush(nullptr);
      std::_Exit(EXIT_FAILURE);  // leaving in good order would wait for ranks that wait for this one
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "chorus-info: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
