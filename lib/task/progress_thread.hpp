// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/engine.hpp"

#include <stop_token>
#include <thread>

namespace chorus {

/// Drives what is parked in an engine while the program computes, until it is destroyed. Sleeps while nothing is
/// parked.
class ProgressThread {
 public:
  /// `engine` outlives it.
  explicit ProgressThread(Engine& engine);

 private:
  static void run(const std::stop_token& stop, Engine& engine);

  std::jthread thread_;
};

}  // namespace chorus
