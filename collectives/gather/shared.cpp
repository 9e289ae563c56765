// SPDX-License-Identifier: Apache-2.0
//
// Shared gather: every rank copies its block into its slots of the shared memory, a segment at a time; the root copies
// them out as they come.
//
// There are several slots, so the others write the next segment while the root reads the last.

#include "base/machine.hpp"
#include "lending.hpp"
#include "link_model.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::gather_shared {
namespace {

bool applies(const Problem& problem) { return problem.shared; }

std::size_t segment_of(std::size_t slot_bytes) { return std::min(slot_bytes, machine::longest_segment); }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  const double rounds = std::max(1.0, std::ceil(bytes / static_cast<double>(segment_of(problem.slot_bytes))));
  const double kept = problem.ranks > 1 ? kept_bytes(problem.call) : 0;
  return {.shared = {.messages = rounds, .bytes = bytes},
          .alone = bytes * others + kept,
          .messages = {},
          .arrivals = arrivals_of_givers(problem, rounds)};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const bool root = memory.rank() == arguments.call.root;
  const std::size_t segment = segment_of(memory.slot_bytes());
  const std::size_t all = arguments.call.bytes();
  const auto block = [&](int rank) { return arguments.out + static_cast<std::size_t>(rank) * all; };
  if (root && arguments.in != arguments.out) copy_unless_same(block(memory.rank()), arguments.in, all);
  const Loan in(memory, root ? nullptr : arguments.in, all);
  Round round = 0;
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(segment, all - done);
    round = co_await memory.open(data_slots);
    in.show(round);
    if (root) {
      for (int step = 1; step < memory.size(); ++step) {
        const int peer = (memory.rank() + step) % memory.size();
        co_await memory.arrival(round, peer);
        const std::byte* const theirs = in.of(round, peer, done, memory.slot(round, peer));
        kernels::copy(block(peer) + done, theirs, bytes, kernels::Store::cached);
      }
    } else if (!in.own()) {
      memory.put(memory.slot(round, memory.rank()), arguments.in + done, bytes);
    }
    if (root && in.any(round)) memory.check_others();
    memory.arrive(round);  // the root when it has read
    done += bytes;
  } while (done < all);
  if (in.own()) co_await memory.arrival(round, arguments.call.root);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "all ranks stream their blocks through shared memory, the root copies them out: all lengths in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::gather_shared
