// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table.hpp"

#include <span>
#include <vector>

namespace chorus::bench {

/// The buffers of a rank. Where only the time counts all ranks have the same ones, as those of thousands would not fit
/// into the memory of one machine; what they compute is then nonsense.
class RankBuffers {
 public:
  explicit RankBuffers(bool own) : own_(own) {}

  /// For `lengths`, to be used until the next call.
  [[nodiscard]] std::span<const float> in(const Lengths& lengths);
  [[nodiscard]] std::span<float> out(const Lengths& lengths);

 private:
  struct Pair {
    std::vector<float> in, out;
  };
  [[nodiscard]] Pair& pair();

  bool own_;
  Pair mine_;
};

}  // namespace chorus::bench
