// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/strategies/strategy.hpp>

namespace chorus {

/// Everything runs and lies on one device: a program is tried with it before it is spread. The replica runs on the
/// thread that calls `run`, which is left where it may run, as are those that it starts; a ThreadBinding keeps them on
/// the device. On a GPU it is kept beside that, which is current for it.
class CHORUS_API OneDeviceStrategy final : public Strategy {
 public:
  /// Throws   Error{invalid_argument} where this process may not run on all of the device.
  explicit OneDeviceStrategy(Device device);
};

}  // namespace chorus
