// SPDX-License-Identifier: Apache-2.0
#include "device/nearest_gpu.hpp"

#include "base/bytes.hpp"
#include "topology/binding.hpp"
#include "topology/devices.hpp"
#include "topology/gpu_assignment.hpp"
#include "transport/communicator_state.hpp"
#include "transport/process.hpp"

#include <chorus/error.hpp>
#include <chorus/gpu.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace chorus {
namespace {

constexpr Call call{.collective = assigning_gpus};

/// What a rank tells the others first: how many GPUs it tells of next.
struct UserRecord {
  std::uint64_t node = 0;
  std::uint64_t gpus = 0;
};

std::array<std::uint8_t, 16> bytes_of(const std::string& uuid) {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t digit = 0;
  for (const char letter : uuid) {
    if (letter == '-' || digit == 2 * bytes.size()) continue;
    const int value = letter <= '9' ? letter - '0' : letter - 'a' + 10;
    bytes[digit / 2] = static_cast<std::uint8_t>(bytes[digit / 2] << 4U | static_cast<unsigned>(value));
    ++digit;
  }
  return bytes;
}

template <class T>
std::vector<T> gathered(detail::CommunicatorState& comm, std::span<const T> own) {
  const std::vector<std::byte> bytes = comm.gather(call, std::as_bytes(own));
  std::vector<T> all(bytes.size() / sizeof(T));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

/// Every rank's GPUs, by rank; this rank's are `own`.
std::vector<GpuUser> gather_users(detail::CommunicatorState& comm, const std::vector<SeenGpu>& own) {
  const UserRecord record{.node = this_kernel(), .gpus = own.size()};
  const std::vector<UserRecord> records = gathered<UserRecord>(comm, std::span(&record, 1));
  const std::size_t most = std::ranges::max(records, {}, &UserRecord::gpus).gpus;
  std::vector<SeenGpu> filled = own;
  filled.resize(most);
  std::vector<SeenGpu> all;
  if (most > 0) all = gathered<SeenGpu>(comm, filled);
  std::vector<GpuUser> users;
  for (std::size_t rank = 0; rank < records.size(); ++rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * most);
    users.push_back(
        {.node = records[rank].node, .gpus = {first, first + static_cast<std::ptrdiff_t>(records[rank].gpus)}});
  }
  return users;
}

}  // namespace

TakenGpu take_nearest_gpu(const Communicator& comm, const Topology& topology) {
  TakenGpu taken{.visible = visible_gpus(), .gpu = {}};
  const Binding binding = current_binding(topology);
  std::vector<SeenGpu> own;
  for (const Gpu& gpu : taken.visible.gpus) {
    own.push_back({bytes_of(gpu.uuid), gpu_distance(topology, gpu.bus_id, binding.pus)});
  }
  const std::vector<GpuUser> users = gather_users(comm.state(), own);
  const std::vector<int>& wanted = comm.state().settings().gpus;
  const std::vector<int> numbers = take_gpus(users, wanted, fmt::format("nearest_gpu on rank {}", comm.rank()));
  const int number = numbers[static_cast<std::size_t>(comm.rank())];
  taken.bound = binding.bound;
  taken.wanted = !wanted.empty();
  if (number < 0) return taken;
  taken.gpu = taken.visible.gpus[static_cast<std::size_t>(number)];
  taken.distance = own[static_cast<std::size_t>(number)].distance;
  return taken;
}

std::vector<Gpu> local_gpus() { return visible_gpus().gpus; }

Device gpu_device(const Gpu& gpu) { return gpu_device(gpu, this_machine_with_devices(), usable_pus()); }

std::vector<Device> gpu_devices() {
  const VisibleGpus visible = visible_gpus();
  if (visible.gpus.empty()) {
    throw Error(ErrorCode::not_supported, fmt::format("gpu_devices: this process can use no GPU: {}", visible.reason));
  }
  std::vector<Device> devices;
  for (const Gpu& gpu : visible.gpus) devices.push_back(gpu_device(gpu));
  return devices;
}

std::optional<Gpu> nearest_gpu(const Communicator& comm) {
  return take_nearest_gpu(comm, this_machine_with_devices()).gpu;
}

}  // namespace chorus
