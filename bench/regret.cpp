// SPDX-License-Identifier: Apache-2.0
#include "regret.hpp"

#include "algorithm_names.hpp"
#include "console.hpp"
#include "measure.hpp"
#include "regret_report.hpp"
#include "subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace chorus::bench {
namespace {

/// One algorithm that applies, and what was measured of it.
struct Entrant {
  Point point;
  std::vector<double> us;
};

std::vector<Entrant> measure_all(Subject& subject, std::size_t bytes) {
  constexpr double seconds_each = 0.25;
  std::vector<Entrant> entrants;
  std::vector<Side> sides;
  for (const std::string_view name : algorithm_names(subject.row().name)) {
    const Call call = subject.call_of(name, bytes);
    Point point = subject.point_of(name, bytes);
    if (!subject.try_out(call, point)) continue;
    entrants.push_back({.point = point, .us = {}});
    sides.push_back({{call}, subject.row().chorus});
  }
  const double seconds = seconds_each * static_cast<double>(sides.size());
  const std::vector<Samples> samples = measure_interleaved(sides, subject.effort(bytes, seconds));
  for (std::size_t index = 0; index < entrants.size(); ++index) {
    subject.note(samples[index], entrants[index].point);
    entrants[index].us = samples[index].us;
  }
  return entrants;
}

Regret judge(const Subject& subject, const std::vector<Entrant>& entrants, const std::string& chosen_name) {
  const auto median = [](const Entrant& entrant) { return entrant.point.us.median; };
  const Entrant& chosen =
      *std::ranges::find_if(entrants, [&](const Entrant& entrant) { return entrant.point.algorithm == chosen_name; });
  const Entrant& best = *std::ranges::min_element(entrants, {}, median);
  Regret regret = {.collective = std::string(subject.row().name),
                   .has_size = subject.row().has_size,
                   .bytes = chosen.point.bytes,
                   .chosen = chosen_name,
                   .best = best.point.algorithm,
                   .chosen_us = chosen.point.us,
                   .best_us = best.point.us};
  if (&chosen != &best) regret.ratio = ratio_of_medians(chosen.us, best.us);
  return regret;
}

std::vector<Regret> regrets_of(const Options& options, const Row& row, const Communicator& world, Outputs& outputs) {
  Console console(world.rank(), sizes_of(options, row, world.size()).size());
  Subject subject(options, row, world, console);
  console.say(regret_heading({.title = std::string(row.title) + (options.reproducible ? " (reproducible)" : ""),
                              .algorithm = "each",
                              .ranks = world.size(),
                              .has_size = row.has_size,
                              .crowded = subject.crowded()}));
  std::vector<Regret> regrets;
  for (const std::size_t bytes : subject.sizes()) {
    console.show(fmt::format("{}: {} bytes", row.name, bytes));
    std::vector<Entrant> entrants = measure_all(subject, bytes);
    const std::string chosen = subject.chosen_algorithm(bytes);
    for (Entrant& entrant : entrants) {
      entrant.point.chosen = entrant.point.algorithm == chosen;
      outputs.record(entrant.point);
    }
    regrets.push_back(judge(subject, entrants, chosen));
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
