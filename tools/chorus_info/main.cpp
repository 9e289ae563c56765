// SPDX-License-Identifier: Apache-2.0
#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <ostream>
#include <string>

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

int run(const chorus::Communicator& world, int argc, char** argv) {
  CLI::App app("Shows what chorus knows about machines and ranks. Runs alone or under mpirun.");
  app.require_subcommand(1);
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
    app.parse(argc, argv);
    action(world);
    return EXIT_SUCCESS;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, speaks ? std::cout : silent);  // --help
    return refuse(fmt::format("{}; --help tells more", error.what()));
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
