// SPDX-License-Identifier: Apache-2.0
//
// Shared scatter: the root copies the blocks of the others into its slots of the shared memory, as much of each as fits
// at a time; each rank copies its own out as it comes.
//
// There are several slots, so the root writes the next while the others read the last.

#include "base/machine.hpp"
#include "lending.hpp"
#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::scatter_shared {
namespace {

std::size_t part_of(std::size_t slot_bytes, int ranks) {
  return part_of_block(std::min(slot_bytes, machine::longest_segment_of_parts), ranks);
}

bool applies(const Problem& problem) { return problem.shared && part_of(problem.slot_bytes, problem.ranks) > 0; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double part = static_cast<double>(part_of(problem.slot_bytes, problem.ranks));
  const double rounds = std::max(1.0, std::ceil(bytes / part));
  const double others = problem.ranks - 1;
  const double kept = problem.ranks > 1 ? kept_bytes(problem.call) : 0;
  return {.shared = {.messages = rounds, .bytes = bytes},
          .alone = bytes * others + kept,
          .messages = {},
          .arrivals = rounds};  // the root's
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const int me = memory.rank();
  const int root = arguments.call.root;
  const std::size_t part = part_of(memory.slot_bytes(), memory.size());
  const std::size_t all = arguments.call.bytes();
  const auto block = [&](int rank) { return arguments.in + static_cast<std::size_t>(rank) * all; };
  const auto place = [&](Round round, int rank) {
    return memory.slot(round, root) + static_cast<std::size_t>(rank) * part;
  };
  const Loan in(memory, arguments.in, all * static_cast<std::size_t>(memory.size()));
  bool lent = false;  // by the root
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(part, all - done);
    const Round round = co_await memory.open(data_slots);
    if (me == root) {
      in.show(round);
      lent = in.own();
      for (int step = 1; step < memory.size() && !lent; ++step) {
        const int peer = (root + step) % memory.size();
        memory.put(place(round, peer), block(peer) + done, bytes);
      }
      memory.arrive(round);
    } else {
      memory.arrive(round);
      co_await memory.arrival(round, root);
      const std::byte* const theirs = in.of(round, root, static_cast<std::size_t>(me) * all);
      lent = theirs != nullptr;
      kernels::copy(arguments.out + done, lent ? theirs : place(round, me), lent ? all : bytes, kernels::Store::cached);
    }
    done += lent ? all : bytes;
  } while (done < all);
  if (me == root && arguments.in != arguments.out) copy_unless_same(arguments.out, block(root), all);
  if (lent) co_await until_all_have_read(memory, root);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "the root streams all blocks through shared memory, each rank copies its own out: all lengths in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::scatter_shared
