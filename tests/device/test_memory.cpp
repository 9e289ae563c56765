// SPDX-License-Identifier: Apache-2.0
#include "device/test_memory.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

namespace chorus::test {
namespace {

CUdeviceptr address_of(const void* memory) noexcept { return reinterpret_cast<CUdeviceptr>(memory); }

}  // namespace

void check(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  throw std::runtime_error(text != nullptr ? text : "unknown error of CUDA");
}

void take_device(int number) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuDeviceGet(&device, number));
  check(cuDevicePrimaryCtxRetain(&context, device));
  check(cuCtxSetCurrent(context));
}

TestStream::TestStream() { check(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING)); }
TestStream::~TestStream() { cuStreamDestroy(stream_); }

void put_pause(CUstream stream, std::chrono::milliseconds duration) {
  const auto sleep = [](void* milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(reinterpret_cast<std::intptr_t>(milliseconds)));
  };
  check(cuLaunchHostFunc(stream, sleep, reinterpret_cast<void*>(static_cast<std::intptr_t>(duration.count()))));
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  CUdeviceptr address = 0;
  check(cuMemAlloc(&address, bytes));
  data_ = reinterpret_cast<std::byte*>(address);
}

DeviceMemory::DeviceMemory(std::span<const std::byte> bytes) : DeviceMemory(bytes.size()) {
  if (!bytes.empty()) check(cuMemcpy(address_of(data_), address_of(bytes.data()), bytes.size()));
}

DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) cuMemFree(address_of(data_));
}

std::vector<std::byte> DeviceMemory::content() const {
  std::vector<std::byte> bytes(bytes_);
  if (bytes_ > 0) check(cuMemcpy(address_of(bytes.data()), address_of(data_), bytes_));
  return bytes;
}

}  // namespace chorus::test
