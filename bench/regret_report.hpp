// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.hpp"
#include "statistics.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace chorus::bench {

/// What the library's choice for one size costs beside the best algorithm.
struct Regret {
  std::string collective;
  bool has_size = true;
  std::size_t bytes = 0;
  std::string chosen, best;  ///< algorithms
  Quartiles chosen_us, best_us;
  Estimate ratio = {1, 1, 1};  ///< chosen over best; 1 where they are the same
};

// Each returns whole lines, in the form of report.hpp.

[[nodiscard]] std::string regret_heading(const TableForm& form);
[[nodiscard]] std::string regret_line(const Regret& regret);
/// Mean and worst of `regrets`, which are those of `what`.
[[nodiscard]] std::string regret_summary(const std::string& what, std::span<const Regret> regrets);

}  // namespace chorus::bench
