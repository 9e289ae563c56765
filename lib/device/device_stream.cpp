// SPDX-License-Identifier: Apache-2.0
#include "device/device_stream.hpp"

#include "device/cuda.hpp"

#include <bit>

namespace chorus {
namespace {

CUstream native(const DeviceStream& stream) { return static_cast<CUstream>(stream.get().native()); }

}  // namespace

void use_device(int device) {
  cuda().check(cuda().ctx_set_current(context_of(device)), "make the device's context current");
}

DeviceStream::DeviceStream() {
  CUstream made = nullptr;
  cuda().check(cuda().stream_create(&made, CU_STREAM_NON_BLOCKING), "make a stream");
  native_ = made;
}

DeviceStream::~DeviceStream() { cuda().stream_destroy(native(*this)); }

void DeviceStream::copy_to_device(std::byte* device, ConstBytes host) const {
  if (host.empty()) return;
  cuda().check(cuda().memcpy_host_to_device_async(address_of(device), host.data(), host.size(), native(*this)),
               "copy to the device");
  wait();
}

void DeviceStream::copy_to_host(Bytes host, const std::byte* device) const {
  if (host.empty()) return;
  cuda().check(cuda().memcpy_device_to_host_async(host.data(), address_of(device), host.size(), native(*this)),
               "copy to the host");
  wait();
}

void DeviceStream::wait() const { synchronize(get()); }

void synchronize(Stream stream) {
  cuda().check(cuda().stream_synchronize(stream_of(stream.native())), "carry out what was put into a stream");
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) {
  if (bytes == 0) return;
  CUdeviceptr address = 0;
  cuda().check(cuda().mem_alloc(&address, bytes), "get memory of the device");
  data_ = std::bit_cast<std::byte*>(address);
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) cuda().mem_free(address_of(data_));
}

}  // namespace chorus
