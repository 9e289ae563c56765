// SPDX-License-Identifier: Apache-2.0
//
// Line reduce: every rank writes its data into the cache line of its arrival; the root reads and reduces them all, in
// the order of the ranks.
//
// The others go on at once. For what fits into a line.

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::reduce_line {
namespace {

bool applies(const Problem& problem) { return problem.shared && problem.call.bytes() <= payload_bytes; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return {.shared = {.messages = 1, .bytes = bytes * (1 + others), .reduced = bytes * others}, .messages = {}};
}

struct Steps {
  static constexpr int slots = line_slots;
  static void post(SharedGroup& memory, Round round, const Arguments& arguments) {
    copy_unless_same(memory.payload(round), arguments.in, arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& memory, const Arguments& arguments) {
    return memory.rank() == arguments.call.root ? Awaited::everybody : Awaited::nobody;
  }
  static void finish(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (memory.rank() != arguments.call.root) return;
    const std::span<const std::byte*> inputs = memory.payloads(round);
    inputs[static_cast<std::size_t>(memory.rank())] = arguments.in;  // the own line is on its way to the others
    Reduction(arguments.call).all(arguments.out, inputs, arguments.call.bytes());
  }
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "one cache line a rank carries data and arrival; the root reduces: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = applies,
    .traffic = traffic,
    .run = OneRound<Steps>::run,
    .now = OneRound<Steps>::now,
    .arrives = true,
};

}  // namespace chorus::reduce_line
