// SPDX-License-Identifier: Apache-2.0
//
// NCCL: its own collective, put into the caller's stream. The host waits for nobody but in the
// first calls of a kind and length, for which NCCL connects the ranks.
//
// What NCCL has no collective for is a group of its sends and receives (alltoall, gather, scatter and what has blocks
// of different lengths), or of its reductions, one to each rank (reduce_scatter).

#include "algorithm.hpp"
#include "device/device_native.hpp"
#include "vendor.hpp"

namespace chorus::on_device_nccl {
namespace {

/// What the busiest rank sends, by rings or to each rank by itself.
double bytes_sent(const Problem& problem) {
  const double ranks = problem.ranks;
  const auto bytes = static_cast<double>(problem.call.bytes());
  switch (problem.call.collective) {
    case Collective::allreduce:
      return 2 * (ranks - 1) / ranks * bytes;
    case Collective::bcast:
    case Collective::reduce:
      return bytes;
    default:
      return (ranks - 1) * bytes;
  }
}

Traffic traffic(const Problem& problem) {
  const double bytes = bytes_sent(problem);
  Traffic traffic;
  traffic.windows = {.messages = 1, .bytes = bytes};
  if (problem.nodes > 1) {
    traffic.messages = {.messages = vendor::rounds(problem), .bytes = bytes / problem.largest_node};
  }
  return traffic;
}

bool applies(const Problem& problem) { return problem.call.memory == Memory::device && problem.native; }

DeviceNative::Put put_of(const Arguments& arguments) {
  return {.call = arguments.call,
          .buffers = vendor::buffers_of(arguments),
          .factor = factor_of(arguments),
          .stream = arguments.stream,
          .limit = arguments.limit};
}

bool may_wait(Transport& transport, const Arguments& arguments) {
  return transport.device_native()->may_wait(put_of(arguments));
}

void now(Transport& transport, const Arguments& arguments) { transport.device_native()->queue(put_of(arguments)); }

Task<> run(Transport& transport, Arguments arguments) {
  DeviceNative& native = *transport.device_native();
  native.begin(put_of(arguments));
  co_await DeviceNative::Connected(native);
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm{.name = "nccl",
                              .summary = "NCCL's own collective, in the order of a stream",
                              .source = "NCCL: NVIDIA, github.com/NVIDIA/nccl",
                              .applies = applies,
                              .traffic = traffic,
                              .run = run,
                              .now = now,
                              .memory = Memory::device,
                              .may_wait = may_wait};

}  // namespace chorus::on_device_nccl
