// SPDX-License-Identifier: Apache-2.0
#include "device/device_memory.hpp"

#include "device/cuda.hpp"

#include <chorus/error.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>

namespace chorus {
namespace {

/// How many shared objects this process has loaded so far.
std::uint64_t objects_loaded() noexcept {
  std::uint64_t loaded = 0;
  const auto read = [](dl_phdr_info* info, std::size_t /*bytes*/, void* into) {
    *static_cast<std::uint64_t*>(into) = info->dlpi_adds;
    return 1;  // the same with every object
  };
  dl_iterate_phdr(read, &loaded);
  return loaded;
}

/// So many had been loaded when there was no driver that works: to search for one that is not there takes 100 us.
std::atomic<std::uint64_t> objects_without_driver{0};

}  // namespace

MemoryPlace place_of(const void* address) {
  const Cuda& driver = cuda();
  unsigned type = 0;
  int device = -1;
  unsigned managed = 0;  // the driver may write a word
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&type, &device, &managed};
  driver.check(driver.pointer_get_attributes(3, attributes, values, reinterpret_cast<CUdeviceptr>(address)),
               "tell where an address lies");
  const bool on_device = type == CU_MEMORYTYPE_DEVICE || managed != 0;
  return {.host = type != CU_MEMORYTYPE_DEVICE || managed != 0, .device = on_device ? device : -1};
}

void look_for_cuda() noexcept {
  if (process_uses_cuda.load(std::memory_order_relaxed)) return;
  const std::uint64_t objects = objects_loaded();
  if (objects_without_driver.load(std::memory_order_relaxed) == objects) return;
  void* const loaded = dlopen(cuda_file(), RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == nullptr) return objects_without_driver.store(objects, std::memory_order_relaxed);
  process_uses_cuda.store(true, std::memory_order_relaxed);
  dlclose(loaded);
}

bool look_at_new(const void* address) noexcept {
  look_for_cuda();
  if (process_uses_cuda.load(std::memory_order_relaxed)) return true;
  addresses_on_host.add(address, 0);
  return false;
}

int current_device() {
  CUdevice device = 0;
  return cuda().ctx_get_device(&device) == CUDA_SUCCESS ? device : 0;
}

void copy_anywhere(void* out, const void* in, std::size_t bytes) {
  if (bytes == 0) return;
  const int of_out = place_of(out).device;
  const int device = of_out >= 0 ? of_out : place_of(in).device;
  const CurrentContext current(context_of(std::max(device, 0)));
  cuda().check(cuda().memcpy(reinterpret_cast<CUdeviceptr>(out), reinterpret_cast<CUdeviceptr>(in), bytes),
               "copy to or from the device");
  cuda().check(cuda().stream_synchronize(nullptr), "copy to or from the device");  // it may have gone on by itself
}

int device_of(const void* address, int expected) {
  static KnownPlaces known;
  if (expected >= 0 && known.has(address, expected)) return expected;
  const int device = place_of(address).device;
  known.add(address, device);
  return device;
}

bool is_device_only(const void* address) noexcept try {
  if (is_known_on_host(address)) return false;
  if (!place_of(address).host) return true;
  addresses_on_host.add(address, 0);
  return false;
} catch (const Error& error) {
  if (error.code() != ErrorCode::transport) {  // nothing is of a device: not to be tried for each call
    objects_without_driver.store(objects_loaded(), std::memory_order_relaxed);
    process_uses_cuda.store(false, std::memory_order_relaxed);
  }
  return false;
} catch (...) {
  return false;
}

}  // namespace chorus
