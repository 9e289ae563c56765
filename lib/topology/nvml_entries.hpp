// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// What is called of NVML, as NVIDIA's "NVML API Reference Guide" (docs.nvidia.com/deploy/nvml-api) gives it. Declared
// here so that the library can be built without nvml.h, which comes with the CUDA Toolkit. What NVML changes gets a new
// name, as nvmlInit_v2 has.
namespace chorus::nvml {

using Result = int;  // nvmlReturn_t
inline constexpr Result success = 0;
inline constexpr Result invalid_argument = 2;
inline constexpr Result not_supported = 3;
inline constexpr Result not_found = 6;

using Device = struct OpaqueDevice*;  // nvmlDevice_t

struct Memory {  // nvmlMemory_t, in bytes
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct PciInfo {  // nvmlPciInfo_t
  char short_bus_id[16] = {};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned device_and_vendor = 0;
  unsigned subsystem = 0;
  char bus_id[32] = {};
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16);

union Value {  // nvmlValue_t
  double real;
  unsigned number;
  std::uint64_t long_number;
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp_us = 0;
  long long latency_us = 0;
  unsigned type = 0;
  Result result = success;
  Value value = {};
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, result) == 28 && offsetof(FieldValue, value) == 32);

inline constexpr unsigned type_unsigned = 1;      // NVML_VALUE_TYPE_UNSIGNED_INT
inline constexpr unsigned link_speed_field = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: MB/s of each active link
inline constexpr int enabled = 1;                 // NVML_FEATURE_ENABLED
inline constexpr int to_gpu = 0;                  // NVML_NVLINK_DEVICE_TYPE_GPU
inline constexpr int to_switch = 2;               // NVML_NVLINK_DEVICE_TYPE_SWITCH

using Init = Result();                                                            // nvmlInit_v2
using Shutdown = Result();                                                        // nvmlShutdown
using DeviceByBusId = Result(const char* bus_id, Device* device);                 // nvmlDeviceGetHandleByPciBusId_v2
using DeviceName = Result(Device device, char* name, unsigned length);            // nvmlDeviceGetName
using DeviceMemory = Result(Device device, Memory* memory);                       // nvmlDeviceGetMemoryInfo
using FieldValues = Result(Device device, int count, FieldValue* values);         // nvmlDeviceGetFieldValues
using LinkState = Result(Device device, unsigned link, int* state);               // nvmlDeviceGetNvLinkState
using LinkRemotePciInfo = Result(Device device, unsigned link, PciInfo* remote);  // nvmlDeviceGetNvLinkRemotePciInfo_v2
using LinkRemoteType = Result(Device device, unsigned link, int* type);           // nvmlDeviceGetNvLinkRemoteDeviceType

}  // namespace chorus::nvml
