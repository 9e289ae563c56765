// SPDX-License-Identifier: Apache-2.0
#include "device/device_memory.hpp"

#include "device/cuda.hpp"

#include <chorus/error.hpp>

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace chorus {
namespace {

/// How many shared objects this process has loaded so far.
unsigned long long objects_loaded() noexcept {
  unsigned long long loaded = 0;
  const auto read = [](dl_phdr_info* info, std::size_t /*bytes*/, void* into) {
    *static_cast<unsigned long long*>(into) = info->dlpi_adds;
    return 1;  // the same with every object
  };
  dl_iterate_phdr(read, &loaded);
  return loaded;
}

/// Places of addresses that were asked for: to ask the driver takes longer than a short call.
class KnownPlaces {
 public:
  [[nodiscard]] bool has(const void* address, int place) const noexcept {
    return known_[line_of(address)].load(std::memory_order_relaxed) == entry(address, place);
  }
  void add(const void* address, int place) noexcept {
    known_[line_of(address)].store(entry(address, place), std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned line_bits = 6;

  [[nodiscard]] static std::size_t line_of(const void* address) noexcept {
    // Buffers of devices begin at multiples of 512 bytes or 2 MiB: by the golden ratio these are spread.
    return (std::uint64_t{reinterpret_cast<std::uintptr_t>(address)} * 0x9E3779B97F4A7C15U) >> (64U - line_bits);
  }
  /// Of an address the kernel gives 56 bits at most.
  [[nodiscard]] static std::uint64_t entry(const void* address, int place) noexcept {
    return std::uint64_t{reinterpret_cast<std::uintptr_t>(address)} << 8U | static_cast<std::uint8_t>(place);
  }

  std::array<std::atomic<std::uint64_t>, std::size_t{1} << line_bits> known_{};
};

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
  // To search for a driver that is not there takes 100 us.
  static std::atomic<unsigned long long> looked_at{0};
  const unsigned long long objects = objects_loaded();
  if (looked_at.load(std::memory_order_relaxed) == objects) return;
  void* const loaded = dlopen(cuda_file(), RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == nullptr) return looked_at.store(objects, std::memory_order_relaxed);
  process_uses_cuda.store(true, std::memory_order_relaxed);
  dlclose(loaded);
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
  constexpr int host = 0;
  static KnownPlaces known;
  if (known.has(address, host)) return false;
  if (!place_of(address).host) return true;
  known.add(address, host);
  return false;
} catch (const Error& error) {
  // Where no driver works there is nothing of a device: not to be tried for each call.
  if (error.code() != ErrorCode::transport) process_uses_cuda.store(false, std::memory_order_relaxed);
  return false;
} catch (...) {
  return false;
}

}  // namespace chorus
