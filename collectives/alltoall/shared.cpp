// SPDX-License-Identifier: Apache-2.0
//
// Shared alltoall: every rank copies the blocks for the others into its slots of the shared memory, as much of each as
// fits at a time, and fetches its own block from everybody's.
//
// Each byte is copied twice.

#include "lending.hpp"
#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::alltoall_shared {
namespace {

bool applies(const Problem& problem) { return problem.shared && part_of_block(problem.slot_bytes, problem.ranks) > 0; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double part = static_cast<double>(part_of_block(problem.slot_bytes, problem.ranks));
  const double rounds = std::max(1.0, std::ceil(bytes / part));
  return {.shared = {.messages = rounds, .bytes = bytes * (2 * problem.ranks - 1), .reduced = 0}, .messages = {}};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const int me = memory.rank();
  const std::size_t all = arguments.call.bytes();
  const std::size_t part = part_of_block(memory.slot_bytes(), memory.size());
  const auto offset = [&](int rank) { return static_cast<std::size_t>(rank) * all; };
  const auto place = [&](int rank) { return static_cast<std::size_t>(rank) * part; };
  copy_unless_same(arguments.out + offset(me), arguments.in + offset(me), all);
  const std::byte* const lent = arguments.in == arguments.out ? nullptr : arguments.in;  // else it is overwritten
  const Loan in(memory, lent, offset(memory.size()));
  Round round = 0;
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(part, all - done);
    round = co_await memory.open(data_slots);
    in.show(round);
    for (int step = 1; step < memory.size() && !in.own(); ++step) {
      const int peer = (me + step) % memory.size();
      memory.put(memory.slot(round, me) + place(peer), arguments.in + offset(peer) + done, bytes);
    }
    memory.arrive(round);
    co_await memory.arrivals(round);
    for (int step = 1; step < memory.size(); ++step) {
      const int peer = (me + memory.size() - step) % memory.size();
      const std::byte* const theirs = in.of(round, peer, offset(me) + done, memory.slot(round, peer) + place(me));
      kernels::copy(arguments.out + offset(peer) + done, theirs, bytes, kernels::Store::cached);
    }
    done += bytes;
  } while (done < all);
  if (in.any(round)) co_await until_all_have_read(memory);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "every rank passes its blocks through shared memory, a slot's length at a time: all lengths in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::alltoall_shared
