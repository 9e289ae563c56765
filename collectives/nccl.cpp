// SPDX-License-Identifier: Apache-2.0
//
// NCCL: its own collective, put into the caller's stream. The host waits for nobody.
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

void now(Transport& transport, const Arguments& arguments) {
  DeviceNative& native = *transport.device_native();
  native.queue(arguments.call,
               {.in = arguments.in,
                .out = arguments.out,
                .in_sections = arguments.in_sections,
                .out_sections = arguments.out_sections},
               factor_of(arguments), arguments.stream);
}

Task<> run(Transport& transport, Arguments arguments) {
  now(transport, arguments);
  co_return;
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
                              .queues = true};

}  // namespace chorus::on_device_nccl
