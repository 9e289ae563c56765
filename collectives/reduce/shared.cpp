// SPDX-License-Identifier: Apache-2.0
//
// Shared reduce: every rank copies its data into its slots of the shared memory, a slot's length at a time; the root
// reads all slots and reduces them, in the order of the ranks.
//
// There are several slots, so the others write the next while the root reduces the last. The root reads p vectors: for
// few ranks; with many, sharing the reduction out (`two_shot`) spares it. Registered memory is read by the root where
// it lies; its rank waits until that is done.

#include "base/machine.hpp"
#include "lending.hpp"
#include "link_model.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::reduce_shared {
namespace {

std::size_t segment_of(const Call& call, std::size_t slot_bytes) {
  return call.whole_bytes(std::min(slot_bytes, machine::longest_segment));
}

bool applies(const Problem& problem) { return problem.shared && segment_of(problem.call, problem.slot_bytes) > 0; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  const double segment = static_cast<double>(segment_of(problem.call, problem.slot_bytes));
  const double rounds = std::max(1.0, std::ceil(bytes / segment));
  return {.shared = {.messages = rounds, .bytes = bytes, .reduced = bytes},
          .alone = bytes * others,
          .messages = {},
          .arrivals = arrivals_of_givers(problem, rounds),
          .far = far_by_one(problem, bytes * others)};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const auto me = static_cast<std::size_t>(memory.rank());
  const bool root = memory.rank() == arguments.call.root;
  const std::size_t segment = segment_of(arguments.call, memory.slot_bytes());
  const std::size_t all = arguments.call.bytes();
  const Loan in(memory, lendable(memory, arguments.in, all), all);
  Round round = 0;
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(segment, all - done);
    round = co_await memory.open(data_slots);
    in.show(round);
    if (root) {
      co_await memory.arrivals(round);
      const std::span<const std::byte*> inputs = memory.slots(round, 0);
      in.replace(inputs, round, done);
      inputs[me] = arguments.in + done;
      reduction.all(arguments.out + done, inputs, bytes);
      if (in.any(round)) memory.check_others();
    } else if (!in.own()) {
      memory.put(memory.slot(round, memory.rank()), arguments.in + done, bytes);
    }
    memory.arrive(round);  // the root when it has read
    done += bytes;
  } while (done < all);
  if (in.own()) co_await memory.arrival(round, arguments.call.root);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "all ranks stream their data through shared memory, the root reduces it: all lengths in a node",
    .source = "Graham and Shipman, EuroPVM/MPI 2008 (pipelined shared-memory reduce)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_shared
