// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options.hpp"
#include "report.hpp"

#include <fstream>
#include <vector>

namespace chorus::bench {

/// The files that rank 0 writes besides the tables, and everything that has been measured.
class Outputs {
 public:
  /// Opens what `options` name, so that nothing is measured for a file that cannot be written. Called by all ranks.
  /// Throws   Refusal on every rank.
  Outputs(const Options& options, int rank);

  /// Writes the line of JSON.
  void record(const Point& point);
  /// Draws the plot of all points.
  void draw() const;
  [[nodiscard]] const std::vector<Point>& points() const noexcept { return points_; }

 private:
  void open_json(const std::string& file);
  void open_plot();

  int rank_;
  std::string plot_file_;
  std::string note_;
  bool plots_ = false;
  std::ofstream json_;
  std::vector<Point> points_;
};

}  // namespace chorus::bench
