// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "device/device_stream.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace chorus::bench {

/// What the buffers are of: memory of each rank's own, of chorus::allocate, which the others read where it lies, or of
/// its device.
enum class Memory { host, registered, device };
/// As the library's algorithms tell it apart.
[[nodiscard]] constexpr chorus::Memory place_of(Memory memory) noexcept {
  return memory == Memory::device ? chorus::Memory::device : chorus::Memory::host;
}

/// Elements on pages of their own, as the OSU benchmarks have them.
class Buffer {
 public:
  /// Throws   std::runtime_error where there is no memory.
  Buffer(std::size_t count, Memory memory);
  /// Those of a device only it may touch.
  [[nodiscard]] std::span<float> first(std::size_t count) const {
    return {device_ ? reinterpret_cast<float*>(device_->data()) : host_.get(), count};
  }

 private:
  struct Free {
    bool registered = false;
    void operator()(float* data) const;
  };
  std::unique_ptr<float[], Free> host_;
  std::unique_ptr<DeviceBuffer> device_;
};

}  // namespace chorus::bench
