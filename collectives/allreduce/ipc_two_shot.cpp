// SPDX-License-Identifier: Apache-2.0
//
// Two-shot allreduce on devices of one node: every rank writes its elements into a window of its device's memory; each
// device joins one part of what is in all windows, within its own; then every device copies the parts from all.
//
//                 window of 0   window of 1   window of 2
//     written     00 01 02      10 11 12      20 21 22      rb: part b of rank r's elements
//     first       0* 01 02      10 1* 12      20 21 2*      rank r joins 0r 1r 2r into r*, which it alone reads
//     second      every rank reads 0* of window 0, 1* of window 1, 2* of window 2
//
// The hosts arrive twice, before the first and before the second: as with one-shot no kernel waits. A device reads the
// vector twice, however many ranks there are: for long vectors. Parts differ by some elements, as each begins where a
// device can read several at a time, and some may be empty. A vector longer than half a window goes in segments.

#include "allreduce/window_segments.hpp"

namespace chorus::allreduce_ipc_two_shot {
namespace {

/// Parts begin at multiples of it.
constexpr std::size_t alignment = 64;
/// Of a step, to put the copy of a part into a stream beside the others.
constexpr double part_copy = 0.1;

/// That of `rank`, of a segment of so many bytes.
Section part_of(std::size_t bytes, int rank, int ranks) noexcept {
  const std::size_t units = (bytes + alignment - 1) / alignment;
  const auto begin = [&](int part) {
    return std::min(bytes, units * static_cast<std::size_t>(part) / static_cast<std::size_t>(ranks) * alignment);
  };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

Traffic traffic(const Problem& problem) {
  const double segments = segments_of(problem);
  const auto bytes = static_cast<double>(problem.call.bytes());
  Traffic traffic;
  traffic.shared.messages = 2 * segments;
  traffic.windows = {.messages = (4 + part_copy * problem.ranks) * segments, .bytes = 3 * bytes};
  return traffic;
}

Task<> run(Transport& transport, Arguments arguments) {
  PeerWindows& windows = *transport.windows();
  const Call& call = arguments.call;
  const int ranks = transport.size();
  const WindowSegments segments(call, windows.half_bytes());
  for (std::size_t number = 0; number < segments.count(); ++number) {
    const Section piece = segments[number];
    const Section own = part_of(piece.bytes, transport.rank(), ranks);
    PeerWindows::Segment segment(windows, arguments.stream);
    windows.write(call, arguments.in + piece.offset, piece.bytes, factor_of(arguments), arguments.stream);
    co_await meet_after_writing(transport);
    windows.reduce_within(call, own, arguments.stream);
    co_await meet_after_writing(transport);
    for (int step = 0; step < ranks; ++step) {
      const int peer = (transport.rank() + step) % ranks;  // so that not all read one window at a time
      const Section part = part_of(piece.bytes, peer, ranks);
      windows.read(peer, part, arguments.out + piece.offset + part.offset, arguments.stream);
    }
    segment.end();
  }
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm{
    .name = "ipc_two_shot",
    .summary = "on devices of one node, which each join one part of what is in all windows: long vectors",
    .source = "two-shot custom all-reduce of TensorRT-LLM and vLLM; CUDA IPC: NVIDIA, CUDA driver API",
    .applies = has_windows,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .memory = Memory::device};

}  // namespace chorus::allreduce_ipc_two_shot
