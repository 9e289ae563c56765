// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "node_speed.hpp"
#include "report.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace chorus::bench {

// Each returns whole lines, in the form of report.hpp.

/// What was measured of the node for messages of `bytes`.
[[nodiscard]] std::string speed_heading(int ranks, bool crowded);
[[nodiscard]] std::string speed_line(std::size_t bytes, const NodeSpeed& speed);

/// A point beside its floor, which it has; `bound`: what the floor is made of.
[[nodiscard]] std::string floor_heading(const TableForm& form);
[[nodiscard]] std::string floor_line(const TableForm& form, const Point& point, std::string_view bound);
/// Empty where no floor is above zero.
[[nodiscard]] std::string floor_summary(std::string_view what, std::span<const Point> points);

}  // namespace chorus::bench
