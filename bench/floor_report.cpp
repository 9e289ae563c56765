// SPDX-License-Identifier: Apache-2.0
#include "floor_report.hpp"

#include "statistics.hpp"

#include <fmt/format.h>

#include <vector>

namespace chorus::bench {
namespace {

double percent(const Point& point) { return 100 * *point.floor_us / point.us.median; }

}  // namespace

std::string speed_heading(int ranks, bool crowded) {
  return preamble({.title = "Node", .algorithm = "", .ranks = ranks, .has_size = false, .crowded = crowded}, "Speed") +
         "# Line: microseconds, one way between ranks 0 and 1. All others: MB/s of each rank, all ranks at once.\n"
         "# Plain, Streamed: written so into shared memory, and then read there by another rank.\n"
         "# System Read: by the system from another rank's memory; 0 where it forbids that.\n" +
         fmt::format("{:<12}{:>12}{:>12}{:>14}{:>14}{:>16}{:>16}{:>14}{:>12}\n", "# Size", "Line(us)", "Copy",
                     "Plain Write", "Plain Read", "Streamed Write", "Streamed Read", "System Read", "Reduce");
}

std::string speed_line(std::size_t bytes, const NodeSpeed& speed) {
  return fmt::format("{:<12}{:>12.3f}{:>12.0f}{:>14.0f}{:>14.0f}{:>16.0f}{:>16.0f}{:>14.0f}{:>12.0f}\n", bytes,
                     speed.line_us, speed.copy, speed.cached.write, speed.cached.read, speed.streamed.write,
                     speed.streamed.read, speed.system_read, speed.reduce);
}

std::string floor_heading(const TableForm& form) {
  std::string text = preamble(form, "Floor");
  text += "# Floor: the least that the node allows, by what bounds it. No call overlaps another.\n";
  if (form.has_size) text += fmt::format("{:<12}", "# Size");
  return text + fmt::format("{:<24}{:>18}{:>12}{:>12}{:>18}\n", form.has_size ? "Algorithm" : "# Algorithm",
                            "Chorus Median(us)", "Floor(us)", "Bound", "Floor/Median(%)");
}

std::string floor_line(const TableForm& form, const Point& point, std::string_view bound) {
  std::string text;
  if (form.has_size) text += fmt::format("{:<12}", point.bytes);
  return text + fmt::format("{:<24}{:>18.3f}{:>12.3f}{:>12}{:>18.1f}\n", point.algorithm, point.us.median,
                            *point.floor_us, bound, percent(point));
}

std::string floor_summary(std::string_view what, std::span<const Point> points) {
  std::vector<double> percents;
  for (const Point& point : points) {
    if (*point.floor_us > 0) percents.push_back(percent(point));
  }
  if (percents.empty()) return {};
  return fmt::format("# Geometric mean of floor/median of {}: {:.1f} %\n", what, geometric_mean(percents));
}

}  // namespace chorus::bench
