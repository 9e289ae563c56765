// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>

#include <cstddef>

namespace chorus {

/// Elements in the memory of a GPU without their C++ type. Does not own them.
struct DeviceTensorRef {
  void* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;
};

}  // namespace chorus
