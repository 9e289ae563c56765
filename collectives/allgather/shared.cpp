// SPDX-License-Identifier: Apache-2.0
//
// Shared allgather: every rank copies its block into its slots of the shared memory, a slot's length at a time, and
// copies everybody's out.
//
// Each byte is copied twice. For long blocks a single copy from one process to the other is faster, as MPI libraries
// do it.

#include "lending.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::allgather_shared {
namespace {

bool applies(const Problem& problem) { return problem.shared; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double rounds = std::max(1.0, std::ceil(bytes / static_cast<double>(problem.slot_bytes)));
  return {.shared = {.messages = rounds, .bytes = bytes * (1 + problem.ranks), .reduced = 0},
          .messages = {},
          .far = far_by_all(problem, bytes * (problem.ranks - 1))};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const std::size_t all = arguments.call.bytes();
  const auto block = [&](int rank) { return arguments.out + static_cast<std::size_t>(rank) * all; };
  const std::byte* mine = arguments.in == arguments.out ? block(memory.rank()) : arguments.in;
  const Loan in(memory, mine, all);
  Round round = 0;
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(memory.slot_bytes(), all - done);
    round = co_await memory.open(data_slots);
    in.show(round);
    if (!in.own()) memory.put(memory.slot(round, memory.rank()), mine + done, bytes);
    memory.arrive(round);
    copy_unless_same(block(memory.rank()) + done, mine + done, bytes);
    co_await memory.arrivals(round);
    for (int step = 1; step < memory.size(); ++step) {
      const int peer = (memory.rank() + step) % memory.size();
      const std::byte* const theirs = in.of(round, peer, done, memory.slot(round, peer));
      kernels::copy(block(peer) + done, theirs, bytes, kernels::Store::cached);
    }
    done += bytes;
  } while (done < all);
  if (in.any(round)) co_await until_all_have_read(memory);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "every rank copies its block into shared memory and everybody's out: short messages in a node",
    .source = "Graham and Shipman, EuroPVM/MPI 2008 (shared-memory allgather)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allgather_shared
