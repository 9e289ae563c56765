// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace chorus::bench {

/// What a rank does between the start of a collective and its end.
enum class Compute {
  busy,  ///< keeps its processor busy
  sleep  ///< leaves it alone, as while an accelerator computes
};

/// So much of it that it takes `us` where nothing disturbs it. Busy, it is an amount of work, no time: where something
/// else takes the processor meanwhile, it takes longer.
class Computation {
 public:
  Computation(Compute kind, double us);

  /// In `parts` of equal length, one or more, with `between` called between them.
  void run(std::size_t parts, const std::function<void()>& between) const;

 private:
  Compute kind_;
  double us_;
  double steps_;
};

}  // namespace chorus::bench
