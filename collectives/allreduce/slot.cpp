// SPDX-License-Identifier: Apache-2.0
//
// Slot allreduce: every rank copies its data into its slot of the shared memory, arrives, and reduces the slots of all
// ranks itself, in the order of the ranks (one shot: one round).
//
// Every rank reads p vectors, so it is for lengths at which a second round costs more than reading: some 16 KiB with
// two ranks, less with more.

#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::allreduce_slot {
namespace {

bool applies(const Problem& problem) { return problem.shared && problem.call.bytes() <= problem.slot_bytes; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return {.shared = {.messages = 1, .bytes = bytes * (1 + others), .reduced = bytes * others}, .messages = {}};
}

struct Steps {
  static constexpr int slots = data_slots;
  static void post(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::size_t bytes = arguments.call.bytes();
    kernels::copy(memory.slot(round, memory.rank()), arguments.in, bytes, store_for(bytes));
  }
  static Awaited awaited(const SharedGroup& /*memory*/, const Arguments& /*arguments*/) { return Awaited::everybody; }
  static void finish(SharedGroup& memory, Round round, const Arguments& arguments) {
    const std::span<const std::byte*> inputs = memory.slots(round, 0);
    inputs[static_cast<std::size_t>(memory.rank())] = arguments.in;  // cached here, unlike what was streamed out
    Reduction(arguments.call).all(arguments.out, inputs, arguments.call.bytes());
  }
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "slot",
    .summary = "every rank copies its data into shared memory and reduces everybody's: short messages in a node",
    .source = "One-shot form of the flat shared-memory allreduce: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = applies,
    .traffic = traffic,
    .run = OneRound<Steps>::run,
    .now = OneRound<Steps>::now,
    .arrives = true,
};

}  // namespace chorus::allreduce_slot
