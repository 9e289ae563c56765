// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/strategies/strategy.hpp>

#include <memory>
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

/// The strategy that is chosen. Called by every rank.
/// Throws   examples::InputError where the strategy is not one for so many replicas or ranks.
[[nodiscard]] std::shared_ptr<chorus::Strategy> make_strategy(const StrategyChoice& choice,
                                                              const chorus::Communicator& world);

}  // namespace train_digits
