// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/mirrored_strategy.hpp>

#include <chorus/strategies/extended.hpp>

#include <utility>

namespace chorus {

MirroredStrategy::MirroredStrategy(std::vector<Device> devices, std::unique_ptr<CrossDeviceOps> cross_device_ops,
                                   const CommunicationOptions& options)
    : Strategy(std::make_unique<StrategyExtended>(
          StrategyParts{.name = "mirrored",
                        .worker_devices = devices.empty() ? local_devices() : std::move(devices),
                        .cross_device_ops = std::move(cross_device_ops),
                        .communication_options = options})) {}

}  // namespace chorus
