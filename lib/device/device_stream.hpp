// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <chorus/device_span.hpp>

#include <cstddef>

// What a program needs of a device besides the collectives, without the vendor's types: the benchmark's buffers and the
// stream for its calls. Everything here throws Error{not_built} where the library has been built without CUDA,
// Error{not_supported} where there is no driver, and Error{transport} where that fails.
namespace chorus {

/// Makes the device with this number the calling thread's, as cudaSetDevice does.
void use_device(int device);

/// A stream of the calling thread's device, which waits for no other stream.
class DeviceStream {
 public:
  DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  ~DeviceStream();

  [[nodiscard]] Stream get() const noexcept { return Stream(native_); }
  /// A copy comes after what is in the stream, and returns when it is over.
  void copy_to_device(std::byte* device, ConstBytes host) const;
  void copy_to_host(Bytes host, const std::byte* device) const;
  /// Waits until what is in it is over, as cudaStreamSynchronize does.
  void wait() const;

 private:
  void* native_ = nullptr;
};

/// Memory of the calling thread's device.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes);
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer();

  /// Null where it is empty.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_ = nullptr;
};

}  // namespace chorus
