// SPDX-License-Identifier: Apache-2.0
#include "entrants.hpp"

#include "measure.hpp"

#include <algorithm>
#include <string>

namespace chorus::bench {

std::vector<Entrant> measure_all(Subject& subject, std::size_t bytes, double seconds_each) {
  std::vector<Entrant> entrants;
  std::vector<Side> sides;
  for (const std::string_view name : subject.algorithms()) {
    const Call call = subject.call_of(name, bytes);
    Point point = subject.point_of(name, bytes);
    if (!subject.try_out(call, point)) continue;
    entrants.push_back({.point = point, .us = {}});
    sides.push_back({{call}, subject.run()});
  }
  const double seconds = seconds_each * static_cast<double>(sides.size());
  const std::vector<Samples> samples = measure_interleaved(sides, subject.effort(bytes, seconds));
  for (std::size_t index = 0; index < entrants.size(); ++index) {
    subject.note(samples[index], entrants[index].point);
    entrants[index].us = samples[index].us;
  }
  return entrants;
}

Regret regret_of(const Row& row, const std::vector<Entrant>& entrants, std::string_view chosen_name) {
  const auto median = [](const Entrant& entrant) { return entrant.point.us.median; };
  const Entrant& chosen =
      *std::ranges::find_if(entrants, [&](const Entrant& entrant) { return entrant.point.algorithm == chosen_name; });
  const Entrant& best = *std::ranges::min_element(entrants, {}, median);
  Regret regret = {.collective = std::string(row.name),
                   .has_size = row.has_size,
                   .bytes = chosen.point.bytes,
                   .chosen = chosen.point.algorithm,
                   .best = best.point.algorithm,
                   .chosen_us = chosen.point.us,
                   .best_us = best.point.us};
  if (&chosen != &best) regret.ratio = ratio_of_medians(chosen.us, best.us);
  return regret;
}

}  // namespace chorus::bench
