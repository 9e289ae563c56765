// SPDX-License-Identifier: Apache-2.0
//
// One-shot allreduce on devices of one node: every rank writes its elements into a window of its device's memory, and
// every device reads all windows and joins what is there, in the order of the ranks.
//
//     stream of rank 0   copy into its window               reads 0 1 2, joins
//     stream of rank 1   copy into its window               reads 0 1 2, joins
//     stream of rank 2       copy into its window           reads 0 1 2, joins
//     on the hosts                                 arrival
//
// The kernels wait for nobody: they are put into the streams when the hosts of all ranks have seen the copies end, so
// that it also goes where ranks share a device, which may run them one after the other. The call returns when its last
// kernel is in the stream. For short vectors, as with p ranks a device reads p times the vector; where steps take long
// and reading does not, as of processes that take turns on one device, for long ones. A vector longer than half a
// window goes in segments. Any number of ranks; all get the same bits.

#include "allreduce/window_segments.hpp"

namespace chorus::allreduce_ipc_one_shot {
namespace {

Traffic traffic(const Problem& problem) {
  const double segments = segments_of(problem);
  const auto bytes = static_cast<double>(problem.call.bytes());
  Traffic traffic;
  traffic.shared.messages = segments;
  traffic.windows = {.messages = 2 * segments, .bytes = (problem.ranks + 1.0) * bytes};
  return traffic;
}

Task<> run(Transport& transport, Arguments arguments) {
  PeerWindows& windows = *transport.windows();
  const Call& call = arguments.call;
  const WindowSegments segments(call, windows.half_bytes());
  for (std::size_t number = 0; number < segments.count(); ++number) {
    const Section part = segments[number];
    const Section whole = {0, part.bytes};
    PeerWindows::Segment segment(windows, arguments.stream);
    windows.write(call, arguments.in + part.offset, part.bytes, factor_of(arguments), arguments.stream);
    co_await meet_after_writing(transport);
    windows.reduce(call, whole, arguments.out + part.offset, arguments.stream);
    segment.end();
  }
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm{
    .name = "ipc_one_shot",
    .summary = "on devices of one node, which each read and join what all have in their windows: short vectors",
    .source = "one-shot custom all-reduce of TensorRT-LLM and vLLM; CUDA IPC: NVIDIA, CUDA driver API",
    .applies = has_windows,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .memory = Memory::device};

}  // namespace chorus::allreduce_ipc_one_shot
