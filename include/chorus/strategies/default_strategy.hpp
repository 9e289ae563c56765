// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/strategy.hpp>

namespace chorus {

/// The strategy of a thread that has no other: one replica, wherever it is called. Its `scope` changes nothing, `run`
/// calls the function, and reductions and gathers give what they get.
class CHORUS_API DefaultStrategy final : public Strategy {
 public:
  /// The only one.
  [[nodiscard]] static DefaultStrategy& instance() noexcept;

 private:
  DefaultStrategy();
};

}  // namespace chorus
