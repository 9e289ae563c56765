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
  std::uint64_t kernel = 0;       ///< the machine, as its kernel runs
  std::array<char, 32> bus_id{};  ///< of the device there, which its instances have in common; NCCL takes each once
  std::int64_t nccl = 0;          ///< version; 0: none

  friend auto operator<=>(const DeviceRecord&, const DeviceRecord&) = default;
};

DeviceRecord record_of(int device, int nccl_version) {
  CUdevice handle = 0;
  cuda().check(cuda().device_get(&handle, device), "find the device");
  DeviceRecord record{.kernel = this_kernel(), .bus_id = {}, .nccl = nccl_version};
  bus_id_of(handle).copy(record.bus_id.data(), record.bus_id.size());
  return record;
}

/// Why NCCL cannot connect these ranks; empty where it can. The same on every rank.
std::string obstacle(std::vector<DeviceRecord> records) {
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    if (records[rank].nccl == 0) return fmt::format("rank {} has no NCCL", rank);
    if (records[rank].nccl != records[0].nccl) {
      return fmt::format("rank {} has version {} of NCCL and rank 0 {}", rank, records[rank].nccl, records[0].nccl);
    }
  }
  std::ranges::sort(records);
  return std::ranges::adjacent_find(records) == records.end() ? "" : "ranks share a device";
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
  const std::string why_not = obstacle(records);
  if (why_not.empty()) {
    devices.native = co_await connect_nccl(transport, device);
    devices.note =
        fmt::format("device memory: NCCL {}.{}.{}", here.version / 10000, here.version / 100 % 100, here.version % 100);
  } else {
    devices.note = fmt::format("device memory: through the hosts, as {}{}", why_not,
                               here.missing.empty() ? "" : fmt::format(" (here: {})", here.missing));
  }
  ConnectedWindows connected = co_await connect_windows(transport, device, this_process());
  devices.windows = std::move(connected.windows);
  devices.note += devices.windows ? "; devices read one another's memory"
                                  : fmt::format("; devices do not read one another's memory: {}", connected.why_not);
  co_return devices;
}

}  // namespace chorus
