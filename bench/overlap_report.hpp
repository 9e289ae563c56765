// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "computation.hpp"
#include "crowding.hpp"
#include "report.hpp"

#include <cstddef>
#include <string>

namespace chorus::bench {

/// Which table is printed, and under what circumstances.
struct OverlapForm {
  TableForm table;
  Company company;
  Compute compute = Compute::busy;
  std::size_t tests = 0;
};

// Each returns whole lines, in the form of report.hpp.

[[nodiscard]] std::string overlap_heading(const OverlapForm& form);
/// Of a point that has its overlap.
[[nodiscard]] std::string overlap_line(const OverlapForm& form, const Point& point);

}  // namespace chorus::bench
