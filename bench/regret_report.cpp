// SPDX-License-Identifier: Apache-2.0
#include "regret_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace chorus::bench {
namespace {

constexpr const char* row = "{:<24}{:>18}  {:<24}{:>16}{:>10}{:>12}{:>13}\n";

}  // namespace

std::string regret_heading(const TableForm& form) {
  std::string text = preamble(form, "Regret");
  text += "# Regret: chosen/best, medians, with a 95 % interval; 1 where the library chooses the best.\n";
  if (form.has_size) text += fmt::format("{:<12}", "# Size");
  return text + fmt::format(row, form.has_size ? "Chosen" : "# Chosen", "Chosen Median(us)", "Best", "Best Median(us)",
                            "Regret", "Regret Low", "Regret High");
}

std::string regret_line(const Regret& regret) {
  std::string text;
  if (regret.has_size) text += fmt::format("{:<12}", regret.bytes);
  return text + fmt::format(row, regret.chosen, precise(regret.chosen_us.median), regret.best,
                            precise(regret.best_us.median), precise(regret.ratio.value), precise(regret.ratio.low),
                            precise(regret.ratio.high));
}

std::string regret_summary(const std::string& what, std::span<const Regret> regrets) {
  if (regrets.empty()) return fmt::format("# Regret of {}: none, as nothing is chosen for such calls\n", what);
  std::vector<double> ratios;
  for (const Regret& regret : regrets) ratios.push_back(regret.ratio.value);
  const auto sure = std::ranges::count_if(regrets, [](const Regret& regret) { return regret.ratio.low > 1; });
  std::string text = fmt::format("# Regret of {}: geometric mean {:.3f}, interval above 1 at {} of {}", what,
                                 geometric_mean(ratios), sure, regrets.size());
  const Regret& worst = *std::ranges::max_element(regrets, {}, [](const Regret& regret) { return regret.ratio.value; });
  if (worst.ratio.value > 1) {
    const std::string size = worst.has_size ? fmt::format(" of {} bytes", worst.bytes) : "";
    text += fmt::format(", worst {:.3f} [{:.3f}, {:.3f}]: {}{} by {} instead of {}", worst.ratio.value, worst.ratio.low,
                        worst.ratio.high, worst.collective, size, worst.chosen, worst.best);
  }
  return text + "\n";
}

}  // namespace chorus::bench
