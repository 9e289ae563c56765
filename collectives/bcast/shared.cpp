// SPDX-License-Identifier: Apache-2.0
//
// Shared bcast: the root copies its data into its slots of the shared memory, a slot's length at a time; the others
// copy it out as it comes.
//
// There are several slots, so the root writes the next while the others read the last: a pipeline without a tree. The
// slots are written past the caches, as the others have read those lines last. Registered memory of the root's is
// copied by the others from where it lies, all at once.

#include "base/machine.hpp"
#include "lending.hpp"
#include "link_model.hpp"
#include "one_round.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::bcast_shared {
namespace {

bool applies(const Problem& problem) { return problem.shared; }

std::size_t segment_of(std::size_t slot_bytes) { return std::min(slot_bytes, machine::longest_segment); }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double rounds = std::max(1.0, std::ceil(bytes / static_cast<double>(segment_of(problem.slot_bytes))));
  return {.shared = {.messages = rounds, .bytes = bytes, .reduced = 0},
          .alone = bytes,  // the root's
          .messages = {},
          .arrivals = arrivals_of_givers(problem, 1) + rounds - 1,  // after the first round of the root alone
          .far = far_from_one(problem, bytes)};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const int root = arguments.call.root;
  const std::size_t segment = segment_of(memory.slot_bytes());
  const std::size_t all = arguments.call.bytes();
  const Loan in(memory, arguments.in, all);
  bool lent = false;  // by the root
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(segment, all - done);
    const Round round = co_await memory.open(data_slots);
    std::byte* slot = memory.slot(round, root);
    if (memory.rank() == root) {
      in.show(round);
      if (!in.own()) memory.put(slot, arguments.in + done, bytes);
      memory.arrive(round);
      lent = in.own();
    } else {
      memory.arrive(round);
      co_await memory.arrival(round, root);
      const std::byte* const theirs = in.of(round, root, 0);
      lent = theirs != nullptr;
      kernels::copy(arguments.out + done, lent ? theirs : slot, lent ? all : bytes, kernels::Store::cached);
    }
    done += lent ? all : bytes;
  } while (done < all);
  if (lent) co_await until_all_have_read(memory, root);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "the root streams its data through shared memory, the others copy it out: all lengths in a node",
    .source = "Graham and Shipman, EuroPVM/MPI 2008 (pipelined shared-memory bcast)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::bcast_shared
