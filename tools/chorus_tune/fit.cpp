// SPDX-License-Identifier: Apache-2.0
#include "fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

namespace chorus::tune {
namespace {

constexpr double least_latency_us = 0.001;
constexpr double most_megabytes_per_second = 1e7;
constexpr std::size_t least_points = 3;  // of a line

/// A line and how far the timings are from it: the sum of the squares of their relative errors.
struct Line {
  Link link;
  double error = 0;
};

double error_of(const Link& link, std::span<const Timing> timings) {
  double sum = 0;
  for (const Timing& timing : timings) {
    const double relative = link.microseconds(1, timing.bytes) / timing.us - 1;
    sum += relative * relative;
  }
  return sum;
}

/// Least squares of the relative errors; a line cannot fall, nor begin below nothing.
Line line_through(std::span<const Timing> timings) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const Timing& timing : timings) {
    const double weight = 1 / (timing.us * timing.us);
    w += weight;
    wx += weight * timing.bytes;
    wy += weight * timing.us;
    wxx += weight * timing.bytes * timing.bytes;
    wxy += weight * timing.bytes * timing.us;
  }
  const double spread = w * wxx - wx * wx;
  double slope = spread > 0 ? (w * wxy - wx * wy) / spread : 0;
  if (wy < slope * wx) slope = wxy / wxx;  // best through the origin
  slope = std::max(slope, 1 / most_megabytes_per_second);
  const Link link = {std::max((wy - slope * wx) / w, least_latency_us), 1 / slope};
  return {link, error_of(link, timings)};
}

/// From which length on `rest` is to hold instead of `brief`, so that no longer message takes less than a shorter one:
/// behind the last of the brief, up to the first of the rest. None where `rest` is below `brief` all that way.
std::optional<double> length_of_switch(const Link& brief, const Link& rest, double last_brief, double first_of_rest) {
  const auto rise = [&](double bytes) { return rest.microseconds(1, bytes) - brief.microseconds(1, bytes); };
  const double at_first = rise(first_of_rest);
  if (at_first >= 0) return first_of_rest;
  const double at_last = rise(last_brief);
  if (at_last < 0) return std::nullopt;
  return std::ceil(last_brief + (first_of_rest - last_brief) * at_last / (at_last - at_first));  // where they cross
}

}  // namespace

MessageLink fit(std::span<const Timing> timings) {
  constexpr double near = 0.05;   // the relative error in the mean with which one line is good enough
  constexpr double better = 0.5;  // two lines are to have no more than this share of the error of one
  const Line one = line_through(timings);
  MessageLink link = {.latency_us = one.link.latency_us, .megabytes_per_second = one.link.megabytes_per_second};
  double least = better * one.error;
  if (std::sqrt(one.error / static_cast<double>(timings.size())) < near) return link;
  for (std::size_t split = least_points; split + least_points <= timings.size(); ++split) {
    const Line brief = line_through(timings.first(split));
    const Line rest = line_through(timings.subspan(split));
    if (brief.error + rest.error >= least) continue;
    const auto from = length_of_switch(brief.link, rest.link, timings[split - 1].bytes, timings[split].bytes);
    if (!from) continue;
    least = brief.error + rest.error;
    link = {.latency_us = brief.link.latency_us,
            .megabytes_per_second = brief.link.megabytes_per_second,
            .long_from = *from,
            .long_latency_us = rest.link.latency_us,
            .long_megabytes_per_second = rest.link.megabytes_per_second};
  }
  return link;
}

double share_of_further_message(double one_us, double three_us) {
  constexpr double least = 0.01;  // a tuning file takes none
  return std::clamp((three_us / one_us - 1) / 2, least, 1.0);
}

}  // namespace chorus::tune
