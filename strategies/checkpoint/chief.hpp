// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/strategy.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace chorus {

/// What worker 0 does for all. Where it fails no worker waits for another: all throw the same at the next `settle`.
class Chief {
 public:
  /// `function` is for messages.
  /// Throws   Error{wrong_context} in a replica, in an update, and in the scope of another strategy.
  Chief(Strategy& strategy, const char* function);

  /// True on worker 0.
  [[nodiscard]] bool here() const noexcept { return here_; }
  /// Of the workers; null where there is one only.
  [[nodiscard]] const Communicator* workers() const noexcept { return workers_; }
  /// On worker 0, unless something has failed before: does `work`, and keeps what it throws.
  void attempt(const std::function<void()>& work);
  /// Throws on every worker what has failed on worker 0. Called by all, which wait for it as long as it takes.
  void settle();
  /// Gives every worker the `numbers` of worker 0. Called by all.
  void share(std::vector<std::int64_t>& numbers) const;

 private:
  const Communicator* workers_;
  bool here_;
  std::optional<Error> failure_;
};

}  // namespace chorus
