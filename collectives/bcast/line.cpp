// SPDX-License-Identifier: Apache-2.0
//
// Line bcast: the root writes its data into the cache line of its arrival; the others read it there.
//
// The root goes on at once; it waits for the others only when it is several calls ahead of them. For what fits into a
// line, and few ranks, as all of them read the one line.

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::bcast_line {
namespace {

bool applies(const Problem& problem) { return problem.shared && problem.call.bytes() <= payload_bytes; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {.messages = 1, .bytes = bytes, .reduced = 0}, .messages = {}};
}

struct Steps {
  static constexpr int slots = line_slots;
  static bool is_root(const SharedGroup& memory, const Arguments& arguments) {
    return memory.rank() == arguments.call.root;
  }
  static void post(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (is_root(memory, arguments)) copy_unless_same(memory.payload(round), arguments.in, arguments.call.bytes());
  }
  static Awaited awaited(const SharedGroup& memory, const Arguments& arguments) {
    return is_root(memory, arguments) ? Awaited::nobody : Awaited::root;
  }
  static void finish(SharedGroup& memory, Round round, const Arguments& arguments) {
    if (is_root(memory, arguments)) return;
    copy_unless_same(arguments.out, memory.payload(round, arguments.call.root), arguments.call.bytes());
  }
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "line",
    .summary = "the root's cache line carries data and arrival: smallest messages in a node",
    .source = "Payload in the flag line: Graham and Shipman, EuroPVM/MPI 2008; as the LL protocol of NCCL",
    .applies = applies,
    .traffic = traffic,
    .run = OneRound<Steps>::run,
    .now = OneRound<Steps>::now,
    .arrives = true,
};

}  // namespace chorus::bcast_line
