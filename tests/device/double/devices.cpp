// SPDX-License-Identifier: Apache-2.0
#include "cuda_call.hpp"
#include "double.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

// cuInit, cuDriverGetVersion and cuDevice...
namespace chorus::test {

using namespace doubles;

namespace {

std::map<int, DeviceIdentity> first_identities() {
  std::map<int, DeviceIdentity> all;
  for (int device = 0; device < 16; ++device) {
    all[device] = {.name = fmt::format("Pretended device {}", device % 2 == 0 ? "A100" : "H100"),
                   .pci_bus_id = fmt::format("0000:{:02X}:00.0", 0x1A + 0x11 * device),
                   .uuid = fmt::format("pretended UUID{:02}", device),
                   .memory_bytes = std::size_t{80} << 30U};
  }
  return all;
}

std::map<int, DeviceIdentity>& identities() {
  static auto& all = *[] {
    at_clear([] { identities() = first_identities(); });
    return new std::map<int, DeviceIdentity>(first_identities());
  }();
  return all;
}

}  // namespace

void set_device_count(int count) {
  const Lock lock(guard());
  settings().devices = count;
}

void set_driver_version(int version) {
  const Lock lock(guard());
  settings().driver_version = version;
}

void set_delay(std::chrono::microseconds delay) {
  const Lock lock(guard());
  settings().delay = delay;
}

void set_kernel_delay(int device, std::chrono::microseconds delay) {
  const Lock lock(guard());
  settings().slow_device = device;
  settings().kernel_delay = delay;
}

void set_copy_delay(std::chrono::microseconds delay) {
  const Lock lock(guard());
  settings().copy_delay = delay;
}

void forget_initialization() {
  const Lock lock(guard());
  settings().initialized = false;
}

DeviceIdentity device_identity(int device) {
  const std::vector<int> visible = visible_devices();
  return identities()[device < std::ssize(visible) ? visible[static_cast<std::size_t>(device)] : device];
}

void set_device_identity(int device, const DeviceIdentity& identity) {
  const Lock lock(guard());
  identities()[device] = identity;
}

}  // namespace chorus::test

using namespace chorus::test;

namespace {

/// Copies `text` and a zero to the `size` bytes at `to`, as much as fits.
CUresult give_text(const std::string& text, char* to, int size) {
  if (to == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
  return cuda_call({.function = "cuInit"}, Needs::nothing, [&](Lock&) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (visible_devices().empty()) return CUDA_ERROR_NO_DEVICE;
    settings().initialized = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return cuda_call({.function = "cuDriverGetVersion"}, Needs::nothing, [&](Lock&) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = settings().driver_version;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return cuda_call({.function = "cuDeviceGetCount"}, Needs::initialized, [&](Lock&) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(visible_devices().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return cuda_call({.function = "cuDeviceGet"}, Needs::initialized, [&](Lock&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  return cuda_call({.function = "cuDeviceGetName", .device = device}, Needs::initialized, [&](Lock&) {
    return is_device(device) ? give_text(device_identity(device).name, name, size) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  return cuda_call({.function = "cuDeviceGetPCIBusId", .device = device}, Needs::initialized, [&](Lock&) {
    return is_device(device) ? give_text(device_identity(device).pci_bus_id, id, size) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuda_call({.function = "cuDeviceGetUuid", .device = device}, Needs::initialized, [&](Lock&) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    std::memcpy(uuid->bytes, device_identity(device).uuid.data(), sizeof uuid->bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return cuda_call({.function = "cuDeviceTotalMem", .device = device}, Needs::initialized, [&](Lock&) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = device_identity(device).memory_bytes;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
