// SPDX-License-Identifier: Apache-2.0
#include "device/test_memory.hpp"

#include "device/double/double.hpp"

#include <cstring>
#include <stdexcept>

namespace chorus::test {

void check(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  throw std::runtime_error(text != nullptr ? text : "unknown error of CUDA");
}

TestStream::TestStream() { check(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING)); }
TestStream::~TestStream() { cuStreamDestroy(stream_); }

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  CUdeviceptr address = 0;
  check(cuMemAlloc(&address, bytes));
  data_ = reinterpret_cast<std::byte*>(address);
}

DeviceMemory::DeviceMemory(std::span<const std::byte> bytes) : DeviceMemory(bytes.size()) {
  if (!bytes.empty()) std::memcpy(content().data(), bytes.data(), bytes.size());
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) cuMemFree(reinterpret_cast<CUdeviceptr>(data_));
}

std::span<std::byte> DeviceMemory::content() const {
  if (data_ == nullptr) return {};
  return {device_bytes(reinterpret_cast<CUdeviceptr>(data_)), bytes_};
}

}  // namespace chorus::test
