// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/central_storage_strategy.hpp>

#include <chorus/strategies/extended.hpp>

#include <utility>

namespace chorus {
namespace {

StrategyParts parts_of(std::vector<Device> compute_devices, const std::optional<Device>& parameter_device,
                       const CommunicationOptions& options) {
  if (compute_devices.empty()) compute_devices = local_devices();
  const Device central = parameter_device ? *parameter_device : compute_devices.front();
  return {.name = "central storage",
          .worker_devices = std::move(compute_devices),
          .parameter_devices = {central},
          .communication_options = options};
}

}  // namespace

CentralStorageStrategy::CentralStorageStrategy(std::vector<Device> compute_devices,
                                               const std::optional<Device>& parameter_device,
                                               const CommunicationOptions& options)
    : Strategy(std::make_unique<StrategyExtended>(parts_of(std::move(compute_devices), parameter_device, options))) {}

}  // namespace chorus
