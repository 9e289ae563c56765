// SPDX-License-Identifier: Apache-2.0
#include "device/find_devices.hpp"

#include "base/bytes.hpp"
#include "device/cuda.hpp"
#include "device/nccl_native.hpp"
#include "transport/gathering.hpp"
#include "transport/process.hpp"
#include "transport/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace chorus {
namespace {

/// What a rank tells the others.
struct DeviceRecord {
  DevicePlace place;
  std::int64_t nccl = 0;  ///< version; 0: none
};

DeviceRecord record_of(int device, int nccl_version) {
  CUdevice handle = 0;
  cuda().check(cuda().device_get(&handle, device), "find the device");
  const ProcessId process = this_process();
  DevicePlace place{.kernel = this_kernel(), .bus_id = {}, .pid = process.pid, .start_ticks = process.start_ticks};
  bus_id_of(handle).copy(place.bus_id.data(), place.bus_id.size());
  return {.place = place, .nccl = nccl_version};
}

/// Why NCCL cannot connect these ranks.
struct Obstacle {
  std::string why;  ///< empty where it can
  std::string remedy;
};

/// The same on every rank.
Obstacle obstacle(const std::vector<DeviceRecord>& records) {
  constexpr const char* same_nccl = "let all ranks load the same NCCL, which CHORUS_NCCL_LIBRARY may name";
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    if (records[rank].nccl == 0) return {fmt::format("rank {} has no NCCL", rank), same_nccl};
    if (records[rank].nccl != records[0].nccl) {
      return {fmt::format("rank {} has version {} of NCCL and rank 0 {}", rank, records[rank].nccl, records[0].nccl),
              same_nccl};
    }
  }
  std::vector<std::pair<std::uint64_t, std::array<char, 32>>> devices;  // NCCL takes each once
  for (const DeviceRecord& record : records) devices.emplace_back(record.place.kernel, record.place.bus_id);
  std::ranges::sort(devices);
  if (std::ranges::adjacent_find(devices) == devices.end()) return {};
  return {"ranks share a device", "give each rank a device of its own"};
}

std::vector<DevicePlace> places_in(const std::vector<DeviceRecord>& records) {
  std::vector<DevicePlace> places;
  places.reserve(records.size());
  for (const DeviceRecord& record : records) places.push_back(record.place);
  return places;
}

std::string describe(const DevicePace& pace) {
  if (!pace.known()) return {};
  std::string text = fmt::format("; to the host and back in {:.0f} us", pace.copies_us);
  if (pace.knows_windows()) text += fmt::format(", a step between devices in {:.0f} us", pace.windows_us);
  return text;
}

}  // namespace

Task<Devices> find_devices(Transport& transport, std::unique_ptr<Accelerator> own) {
  const int device = own->device();
  const NcclHere here = nccl_here();
  std::vector<DeviceRecord> records(static_cast<std::size_t>(transport.size()));
  records[static_cast<std::size_t>(transport.rank())] = record_of(device, here.version);
  co_await gather_records(transport, std::as_writable_bytes(std::span(records)));
  Devices devices;
  devices.accelerator = std::move(own);
  const auto [why_not, remedy] = obstacle(records);
  if (why_not.empty()) {
    devices.native = co_await connect_nccl(transport, device);
    devices.note =
        fmt::format("device memory: NCCL {}.{}.{}", here.version / 10000, here.version / 100 % 100, here.version % 100);
  } else {
    const std::string why = why_not + (here.missing.empty() ? "" : fmt::format(" (here: {})", here.missing));
    devices.note = "device memory: through the hosts, as " + why;
    devices.no_native = Error(here.code, here.missing.empty() ? why + "; " + remedy : why);
  }
  ConnectedWindows connected = co_await connect_windows(transport, device, this_process());
  devices.windows = std::move(connected.windows);
  devices.note += devices.windows ? "; devices read one another's memory"
                                  : fmt::format("; devices do not read one another's memory: {}", connected.why_not);
  if (!devices.native) {  // which else leaves nothing to choose that may be measured anew
    devices.pace =
        co_await agree_on_device_pace(transport, *devices.accelerator, devices.windows.get(), places_in(records));
    devices.note += describe(devices.pace);
  }
  co_return devices;
}

}  // namespace chorus
