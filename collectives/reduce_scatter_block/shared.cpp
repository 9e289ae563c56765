// SPDX-License-Identifier: Apache-2.0
//
// Shared reduce_scatter_block: every rank copies the other ranks' blocks into its slot of the shared memory, as much of
// each as fits at a time; each reads its own block in everybody's slot and reduces it, in the order of the ranks.
//
// One round for each slotful. A rank writes and reads (p-1)/p of the input, whatever the number of ranks. Of registered
// memory, unless in place, nothing is copied: the others read it where it lies.

#include "lending.hpp"
#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::reduce_scatter_block_shared {
namespace {

/// How much of one block goes into a slot at a time.
std::size_t part_of(const Call& call, std::size_t slot_bytes, int ranks) {
  return call.whole_bytes(part_of_block(slot_bytes, ranks));
}

bool applies(const Problem& problem) {
  return problem.shared && part_of(problem.call, problem.slot_bytes, problem.ranks) > 0;
}

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  const double part = static_cast<double>(part_of(problem.call, problem.slot_bytes, problem.ranks));
  const double rounds = std::max(1.0, std::ceil(bytes / part));
  return {.shared = {.messages = rounds, .bytes = 2 * bytes * others, .reduced = bytes * others},
          .messages = {},
          .far = far_by_all(problem, bytes * others)};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const int me = memory.rank();
  const std::size_t all = arguments.call.bytes();
  const std::size_t part = part_of(arguments.call, memory.slot_bytes(), memory.size());
  const auto in_block = [&](int rank) { return arguments.in + static_cast<std::size_t>(rank) * all; };
  const auto place = [&](int rank) { return static_cast<std::size_t>(rank) * part; };
  // In place the result goes where others' input is.
  const std::size_t given = all * static_cast<std::size_t>(memory.size());
  const std::byte* const lent = arguments.in == arguments.out ? nullptr : lendable(memory, arguments.in, given);
  const Loan in(memory, lent, given);
  Round round = 0;
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(part, all - done);
    round = co_await memory.open(data_slots);
    in.show(round);
    for (int step = 1; step < memory.size() && !in.own(); ++step) {
      const int owner = (me + step) % memory.size();
      memory.put(memory.slot(round, me) + place(owner), in_block(owner) + done, bytes);
    }
    memory.arrive(round);
    co_await memory.arrivals(round);
    const std::span<const std::byte*> inputs = memory.slots(round, place(me));
    in.replace(inputs, round, static_cast<std::size_t>(me) * all + done);
    inputs[static_cast<std::size_t>(me)] = in_block(me) + done;
    reduction.all(arguments.out + done, inputs, bytes);
    done += bytes;
  } while (done < all);
  if (in.any(round)) co_await until_all_have_read(memory);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "every rank reduces its block of everybody's data in shared memory: all lengths in a node",
    .source = "The first half of the two-shot allreduce: Peng et al., SC 2023 (YHCCL)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_scatter_block_shared
