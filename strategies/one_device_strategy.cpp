// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/one_device_strategy.hpp>

#include <chorus/strategies/extended.hpp>

#include <utility>

namespace chorus {

OneDeviceStrategy::OneDeviceStrategy(Device device)
    : Strategy(std::make_unique<StrategyExtended>(
          StrategyParts{.name = "one device", .worker_devices = {std::move(device)}})) {}

}  // namespace chorus
