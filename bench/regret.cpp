// SPDX-License-Identifier: Apache-2.0
#include "regret.hpp"

#include "console.hpp"
#include "entrants.hpp"
#include "regret_report.hpp"
#include "subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace chorus::bench {
namespace {

constexpr double seconds_each = 0.25;

std::vector<Regret> regrets_of(const Options& options, const Row& row, const Communicator& world, Outputs& outputs) {
  Console console(world.rank(), sizes_of(options, row, world.size()).size());
  Subject subject(options, row, world, console);
  console.say(regret_heading({.title = std::string(row.title) + (options.reproducible ? " (reproducible)" : ""),
                              .algorithm = "each",
                              .ranks = world.size(),
                              .has_size = row.has_size,
                              .crowded = subject.crowded(),
                              .device = std::string(subject.device())}));
  std::vector<Regret> regrets;
  for (const std::size_t bytes : subject.sizes()) {
    console.show(fmt::format("{}: {} bytes", row.name, bytes));
    std::vector<Entrant> entrants = measure_all(subject, bytes, seconds_each);
    const std::string chosen = subject.chosen_algorithm(bytes);
    for (Entrant& entrant : entrants) {
      entrant.point.chosen = entrant.point.algorithm == chosen;
      outputs.record(entrant.point);
    }
    if (chosen.empty()) continue;
    regrets.push_back(regret_of(row, entrants, chosen));
    console.say(regret_line(regrets.back()));
  }
  console.say(regret_summary(std::string(row.name), regrets));
  return regrets;
}

}  // namespace

void run_regret(const Options& options, const Communicator& world, Outputs& outputs) {
  std::vector<Regret> all;
  for (const Row& row : options.rows) {
    const std::vector<Regret> regrets = regrets_of(options, row, world, outputs);
    all.insert(all.end(), regrets.begin(), regrets.end());
  }
  if (options.rows.size() > 1) Console(world.rank(), 0).say(regret_summary("all collectives", all));
}

}  // namespace chorus::bench
