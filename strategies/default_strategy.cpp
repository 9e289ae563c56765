// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/default_strategy.hpp>

#include <chorus/strategies/extended.hpp>

namespace chorus {

DefaultStrategy::DefaultStrategy()
    : Strategy(std::make_unique<StrategyExtended>(
          StrategyParts{.name = "default", .worker_devices = {Device(Device::Kind::cpu, 0, {0})}, .anywhere = true})) {}

DefaultStrategy& DefaultStrategy::instance() noexcept {
  static DefaultStrategy strategy;
  return strategy;
}

}  // namespace chorus
