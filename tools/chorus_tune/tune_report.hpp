// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link_model.hpp"
#include "regret_report.hpp"
#include "tuning.hpp"

#include <span>
#include <string>

namespace chorus::tune {

/// What one call costs by the file, and without it.
struct Verdict {
  bench::Regret with_file;
  bench::Regret without;
};

// Each returns whole lines.

/// Where it is measured.
[[nodiscard]] std::string heading(const Tuning::Machine& machine);
/// What was measured beside what the library takes without a file.
[[nodiscard]] std::string summary(const LinkModel& measured, const LinkModel& without_file);
[[nodiscard]] std::string verdict_heading();
[[nodiscard]] std::string verdict_line(const Verdict& verdict);
/// Means and worst; one or more.
[[nodiscard]] std::string verdict_summary(std::span<const Verdict> verdicts);
/// How `file` is used, or why it should not be: by `verdicts`, one or more, it chooses clearly worse than none.
[[nodiscard]] std::string advice(const std::string& file, std::span<const Verdict> verdicts);

}  // namespace chorus::tune
