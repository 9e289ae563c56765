// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace train_digits {

/// Writes a line "step loss" for each of `losses`, with all digits of the loss.
/// Throws   std::runtime_error where the file cannot be written.
void write_curve(const std::vector<double>& losses, const std::string& path);

/// Draws them with gnuplot into `path`, an .svg or .png file, below `title`. False where there is no gnuplot or it
/// fails.
[[nodiscard]] bool plot_curve(const std::vector<double>& losses, const std::string& path, const std::string& title);

/// A bar on stderr, where that is a terminal: how much of a training is done.
class ProgressBar {
 public:
  /// `shown`: false on all ranks but one.
  ProgressBar(std::size_t steps, bool shown);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  void advance(double loss);
  /// Takes it off the line, for other output; the next step brings it back.
  void clear() const;

 private:
  std::size_t steps_;
  std::size_t done_ = 0;
  bool shown_;
};

}  // namespace train_digits
