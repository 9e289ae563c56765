// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

namespace chorus::bench {

/// One line on the terminal that is written over and over; silent where the output goes to no terminal. It shares
/// standard output with the results where that is the terminal, because mpirun may swap lines of two streams.
class Progress {
 public:
  /// `shown`: false on all ranks but the one that prints.
  explicit Progress(bool shown);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& text);
  /// Takes the line away, before anything else is printed.
  void clear();

 private:
  std::FILE* stream_ = nullptr;
  bool visible_ = false;
};

}  // namespace chorus::bench
