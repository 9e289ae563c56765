// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/replica_group.hpp>
#include <chorus/strategies/strategy.hpp>
#include <chorus/strategies/strategy_call.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace chorus {

/// A call that has to do with checkpoints, as the workers compare it.
struct CheckpointCall {
  StrategyFunction function = StrategyFunction::none;
  std::uint64_t tensors = 0;
  std::uint64_t checksum = 0;  ///< of their names, types and shapes
  std::int64_t number = 0;     ///< the step, or the options
  bool operator==(const CheckpointCall&) const = default;
};

/// What worker 0 does for all. Where it fails no worker waits for another: all throw the same at the next `settle`.
class Chief {
 public:
  /// Called by all workers: comes back when all have come with the same `call`.
  /// Throws   Error{wrong_context} in a replica, in an update, and in the scope of another strategy; Error{mismatch}
  ///          on every worker where their calls differ; what a collective throws.
  Chief(Strategy& strategy, const CheckpointCall& call);

  /// True on worker 0.
  [[nodiscard]] bool here() const noexcept { return here_; }
  /// Of the workers, for their next collective; null where there is one only.
  [[nodiscard]] const Communicator* workers() const;
  /// On worker 0, unless something has failed before: does `work`, and keeps what it throws.
  void attempt(const std::function<void()>& work);
  /// Throws on every worker what has failed on worker 0. Called by all, which wait for it as long as it takes.
  void settle();
  /// body(), which all workers call after a `settle`: what it throws on one the others are told.
  template <class Body>
  void go_on(const Body& body) const {
    group_.further(body);
  }
  /// Gives every worker the `numbers` of worker 0. Called by all, in `go_on`.
  void share(std::vector<std::int64_t>& numbers) const;

 private:
  /// The call and where its files are, for messages.
  [[nodiscard]] std::string place() const;
  /// Gives every worker the failure of worker 0.
  void tell_failure();

  ReplicaGroup& group_;
  StrategyFunction function_;
  bool here_;
  std::optional<Error> failure_;
};

}  // namespace chorus
