// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/strategies/strategy.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace train_digits {

/// The values of --strategy.
[[nodiscard]] std::vector<std::string> strategy_names();

struct StrategyChoice {
  std::string name = "mirrored";
  int replicas = 0;  ///< of each process; 0: as many as the strategy makes by itself
  bool reproducible = false;
};

/// The ranks that train under it: all, or under a strategy of one process the first, which says so; none on the others.
/// Called by every rank.
[[nodiscard]] std::optional<chorus::Communicator> workers_of(const StrategyChoice& choice,
                                                             const chorus::Communicator& world);

/// The strategy that is chosen. Called by all of `workers`.
/// Throws   examples::InputError where the strategy is not one for so many replicas.
[[nodiscard]] std::shared_ptr<chorus::Strategy> make_strategy(const StrategyChoice& choice,
                                                              const chorus::Communicator& workers);

}  // namespace train_digits
