// SPDX-License-Identifier: Apache-2.0
#include "strategies_report.hpp"

#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace chorus::bench {
namespace {

std::string heading(const StrategyForm& form, const char* title) {
  std::string text = fmt::format("\n# chorus {} Test v{}\n# Strategy: {}. Workers: {}. Replicas of each: {}.\n", title,
                                 CHORUS_VERSION, form.name, form.workers, form.replicas);
  if (form.crowded) text += "# Note: more replicas than processors: the times depend on the scheduler.\n";
  return text;
}

double median(std::span<const double> us) { return quartiles({us.begin(), us.end()}).median; }

/// How much longer than the other, in us.
Estimate added(const Beside& measured) {
  const std::array sides = {measured.us, measured.other_us};
  return estimate_of_medians(sides, [](std::span<const double> medians) { return medians[0] - medians[1]; });
}

constexpr const char* columns = "{:>14}{:>14}{:>10}{:>10}{:>10}{:>12}{:>10}{:>10}\n";

std::string names(const char* first, const char* second) {
  return fmt::format(columns, first, second, "Ratio", "Low", "High", "Added(us)", "Low", "High");
}

std::string numbers(const Beside& measured) {
  const Estimate ratio = ratio_of_medians(measured.us, measured.other_us);
  const Estimate more = added(measured);
  return fmt::format(columns, precise(median(measured.us)), precise(median(measured.other_us)), precise(ratio.value),
                     precise(ratio.low), precise(ratio.high), precise(more.value), precise(more.low),
                     precise(more.high));
}

}  // namespace

std::string run_table(const StrategyForm& form, const std::string& other, const Beside& measured) {
  return heading(form, "Strategy Run") + fmt::format("# Run: of a function that does nothing. Bare: {}.\n", other) +
         names("Run(us)", "Bare(us)") + numbers(measured);
}

std::string all_reduce_heading(const StrategyForm& form, const std::string& other) {
  return heading(form, "Strategy All-reduce") +
         fmt::format("# All-reduce: of a replica, float32, sum. Bare: {}.\n{:<12}", other, "# Size") +
         names("All-reduce(us)", "Bare(us)");
}

std::string all_reduce_line(std::size_t bytes, const Beside& measured) {
  return fmt::format("{:<12}", bytes) + numbers(measured);
}

std::string gradients_heading(const StrategyForm& form, std::size_t tensors, std::size_t bytes) {
  return heading(form, "Strategy Gradients") +
         fmt::format(
             "# {} tensors of {} bytes, float32, sum. Gain: how many times as fast as one by one.\n"
             "{:<28}{:>14}{:>10}{:>10}{:>10}\n",
             tensors, bytes, "# Way", "Median(us)", "Gain", "Low", "High");
}

std::string gradients_line(const Way& way) {
  const Estimate gain = ratio_of_medians(way.measured.other_us, way.measured.us);
  return fmt::format("{:<28}{:>14.3f}{:>10.3f}{:>10.3f}{:>10.3f}\n", way.name, median(way.measured.us), gain.value,
                     gain.low, gain.high);
}

std::string overlap_of_gradients(const OverlapOfGradients& measured) {
  const std::array sides = {measured.alone_us, measured.afterwards_us, measured.overlapped_us};
  const Estimate hidden = estimate_of_medians(sides, [](std::span<const double> medians) {
    return std::clamp(100 * (medians[1] - medians[2]) / (medians[1] - medians[0]), 0.0, 100.0);
  });
  return fmt::format(
      "# With {:.1f} us of computation: {:.1f} us where they are reduced afterwards, {:.1f} us in packs of\n"
      "# {} bytes as they are computed, which hides {:.1f} % [{:.1f}, {:.1f}] of the reduction.\n",
      median(measured.alone_us), median(measured.afterwards_us), median(measured.overlapped_us), measured.pack_bytes,
      hidden.value, hidden.low, hidden.high);
}

}  // namespace chorus::bench
