// SPDX-License-Identifier: Apache-2.0
//
// Line allgather: every rank writes its block into the cache line of its arrival and reads everybody's.
//
// One round. For blocks that fit into a line.

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::allgather_line {
namespace {

bool applies(const Problem& problem) { return problem.shared && problem.call.bytes() <= payload_bytes; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {.messages = 1, .bytes = bytes * problem.ranks, .reduced = 0}, .messages = {}};
}

struct Steps {
  static constexpr int slots = line_slots;
  static void post(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::size_t bytes = arguments.call.bytes();
    const bool in_place = arguments.in == arguments.out;
    const std::byte* mine = in_place ? arguments.in + static_cast<std::size_t>(memory.rank()) * bytes : arguments.in;
    copy_unless_same(memory.payload(round), mine, bytes);
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void finish(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::size_t bytes = arguments.call.bytes();
    for (int peer = 0; peer < memory.size(); ++peer) {
      copy_unless_same(arguments.out + static_cast<std::size_t>(peer) * bytes, memory.payload(round, peer), bytes);
    }
  }
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries block and arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = applies,
    .traffic = traffic,
    .run = OneRound<Steps>::run,
    .now = OneRound<Steps>::now,
    .arrives = true,
};

}  // namespace chorus::allgather_line
