// SPDX-License-Identifier: Apache-2.0
#include "device/stream_scratch.hpp"

#include "device/cuda.hpp"

#include <algorithm>

namespace chorus {

void copy_in_stream(std::byte* out, const std::byte* in, std::size_t bytes, CUstream stream) {
  cuda().check(cuda().memcpy_device_to_device_async(address_of(out), address_of(in), bytes, stream),
               "copy on the device");
}

StreamScratch::StreamScratch(std::size_t bytes, CUstream stream) : section_{0, bytes}, stream_(stream) {
  CUdeviceptr address = 0;
  cuda().check(cuda().mem_alloc_async(&address, std::max<std::size_t>(bytes, 1), stream), "get memory of the device");
  data_ = reinterpret_cast<std::byte*>(address);
}

StreamScratch::~StreamScratch() { cuda().mem_free_async(address_of(data_), stream_); }

const std::byte* StreamScratch::filled_from(const std::byte* buffer) const {
  if (section_.bytes > 0) copy_in_stream(data_, buffer + section_.offset, section_.bytes, stream_);
  return data_ - section_.offset;
}

}  // namespace chorus
