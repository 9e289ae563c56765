// SPDX-License-Identifier: Apache-2.0
#include "device/visible_gpus.hpp"

#include "device/cuda.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>

namespace chorus {
namespace {

constexpr int longest_name = 256;

/// "d81a0c4e-09b4-4a3e-8c0b-5a4f3d6c1b2a".
std::string text_of(const CUuuid& uuid) {
  std::string text;
  for (std::size_t at = 0; at < sizeof uuid.bytes; ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[at]));
  }
  return text;
}

/// As hwloc and nvidia-smi write it.
std::string lower_case_bus_id(CUdevice device) {
  std::string id = bus_id_of(device);
  std::ranges::transform(id, id.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return id;
}

Gpu gpu_at(int ordinal) {
  CUdevice device = 0;
  cuda().check(cuda().device_get(&device, ordinal), "find the device");
  CUuuid uuid{};
  cuda().check(cuda().device_get_uuid(&uuid, device), "tell the device's UUID");
  std::array<char, longest_name> name{};
  cuda().check(cuda().device_get_name(name.data(), longest_name, device), "tell the device's name");
  std::size_t memory = 0;
  cuda().check(cuda().device_total_mem(&memory, device), "tell the device's memory");
  return {.ordinal = ordinal,
          .bus_id = lower_case_bus_id(device),
          .uuid = text_of(uuid),
          .name = name.data(),
          .memory_bytes = memory};
}

}  // namespace

VisibleGpus visible_gpus() {
  VisibleGpus visible;
  visible.expected = cuda_is_expected();
  try {
    int count = 0;
    cuda().check(cuda().device_get_count(&count), "count the devices");
    for (int ordinal = 0; ordinal < count; ++ordinal) visible.gpus.push_back(gpu_at(ordinal));
    if (count == 0) visible.reason = "the CUDA driver tells of no device";
  } catch (const Error& error) {
    visible.gpus.clear();
    visible.reason = error.message();
  }
  return visible;
}

}  // namespace chorus
