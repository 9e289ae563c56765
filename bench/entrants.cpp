// SPDX-License-Identifier: Apache-2.0
#include "entrants.hpp"

#include "measure.hpp"
#include "statistics.hpp"

#include <algorithm>
#include <string>

namespace chorus::bench {
namespace {

/// Every second repetition from number `first` on; all where they are few.
std::vector<double> half(const std::vector<double>& us, std::size_t first) {
  constexpr std::size_t few = 20;
  if (us.size() < few) return us;
  std::vector<double> half;
  for (std::size_t repetition = first; repetition < us.size(); repetition += 2) half.push_back(us[repetition]);
  return half;
}

}  // namespace

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

// The least of several medians is flattered by noise: which algorithm is the best, other repetitions say than those
// that the ratio is of.
Regret regret_of(const Row& row, const std::vector<Entrant>& entrants, std::string_view chosen_name) {
  const auto median = [](const Entrant& entrant) { return quartiles(half(entrant.us, 0)).median; };
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
  if (&chosen != &best) regret.ratio = ratio_of_medians(half(chosen.us, 1), half(best.us, 1));
  return regret;
}

}  // namespace chorus::bench
