// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.hpp"

#include <span>
#include <string>

namespace chorus::bench {

/// True where gnuplot can be started.
[[nodiscard]] bool can_plot();

/// The gnuplot program that draws the medians against the size, on logarithmic axes, with the quartiles as a band: a
/// line for each algorithm, and one for MPI where there is a comparison. Points are of one collective. `note` stands
/// below the title.
[[nodiscard]] std::string plot_script(std::span<const Point> points, const std::string& svg_file,
                                      const std::string& note = {});

/// Draws it. False where gnuplot failed; it has then said why on the standard error output.
[[nodiscard]] bool plot(std::span<const Point> points, const std::string& svg_file, const std::string& note = {});

}  // namespace chorus::bench
