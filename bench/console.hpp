// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "progress.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace chorus::bench {

/// Where the results, the progress and the warnings of all ranks go: rank 0 prints.
class Console {
 public:
  /// `steps`: how many times `show` will be called; `program`: who warns.
  Console(int rank, std::size_t steps, std::string program = "chorus-bench")
      : rank_(rank), steps_(steps), program_(std::move(program)), progress_(rank == 0) {}

  /// The next step begins.
  void show(const std::string& what);
  /// Results, on standard output.
  void say(const std::string& text);
  /// One line on standard error.
  void warn(const std::string& text);

 private:
  int rank_;
  std::size_t done_ = 0, steps_;
  std::string program_;
  Progress progress_;
};

}  // namespace chorus::bench
