// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "collectives/prepared_call.hpp"
#include "device/test_memory.hpp"
#include "transport/process.hpp"

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/options.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

// Ranks with devices, which are threads of this process.
namespace chorus::test {

/// Calls `body` with a communicator on each of `ranks` threads, whose device is the rank's own as far as there are
/// enough, or the first one of all. Rethrows what the first rank that throws has thrown; then expects of the devices
/// what device_world.hpp says.
enum class Devices { own, shared };
void on_device_ranks(int ranks, Devices devices, const std::function<void(const Communicator&)>& body);
/// The same with the communicators that `make` returns, one for each rank.
void on_device_ranks(const std::function<std::vector<Communicator>()>& make, Devices devices,
                     const std::function<void(const Communicator&)>& body);

/// Gives the calling rank, whose process is said to be `process`, windows of halves of `half_bytes` in its current
/// device, in place of those that the communicator has. Every rank calls it.
void connect_windows_anew(const Communicator& comm, ProcessId process, std::size_t half_bytes);

/// For SetUp: skips the test where `algorithm` is NCCL's and there is not a device for each of the ranks.
void skip_without_devices(std::string_view algorithm, int ranks);

/// A rank's buffers for a call, in device memory.
class DeviceBuffers {
 public:
  DeviceBuffers(const PreparedCall& prepared, int rank);
  /// `stream` outlives the call.
  [[nodiscard]] detail::Buffers of(const Stream& stream) const;
  /// Throws std::runtime_error where the result is wrong, or anything changed that must not. The call is over.
  void check();

 private:
  const PreparedCall& prepared_;
  int rank_;
  RankBuffers host_;
  Arguments arguments_;
  DeviceMemory in_;
  DeviceMemory out_;
};

/// Makes the call through its door.
void call_door(const Communicator& comm, const Call& call, const detail::Buffers& buffers,
               const CollectiveOptions& options);

}  // namespace chorus::test
