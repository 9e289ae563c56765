// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/strategies/strategy.hpp>

namespace chorus {

/// Everything runs and lies on one device: a program is tried with it before it is spread.
class CHORUS_API OneDeviceStrategy final : public Strategy {
 public:
  explicit OneDeviceStrategy(Device device);
};

}  // namespace chorus
