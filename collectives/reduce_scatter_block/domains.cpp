// SPDX-License-Identifier: Apache-2.0
//
// Domains reduce_scatter_block: the ranks of a domain reduce among them, each for the ranks that have its place in the
// other domains, then these reduce among them, and at last those of the packages: each package takes in its own ranks'
// blocks, reduced, once from each other package.
//
// Two packages of two ranks, blocks A B C D, and what a rank has reduced so far:
//
//                      rank 0    rank 1    rank 2    rank 3
//   in the package     A01 C01   B01 D01   A23 C23   B23 D23
//   between packages   A         B         C         D
//
// One round a level for as much of each block as fits, when a slot holds a part of all of them.

#include "domains.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::reduce_scatter_block_domains {
namespace {

/// How much of one block goes into a slot at a time.
std::size_t part_of(const Call& call, std::size_t slot_bytes, int ranks) {
  return call.whole_bytes(part_of_block(slot_bytes, ranks));
}

bool applies(const Problem& problem) {
  return has_domains(problem) && problem.call.commutes() &&
         part_of(problem.call, problem.slot_bytes, problem.ranks) > 0;
}

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const Radices& radices = problem.domains;
  const double parts = radices.radix(radices.levels - 1);
  const double others = problem.ranks - 1;
  const double part = static_cast<double>(part_of(problem.call, problem.slot_bytes, problem.ranks));
  double shown = problem.ranks - problem.ranks / radices.stride(1);  // blocks
  for (int level = 1; level < radices.levels; ++level) shown += problem.ranks / radices.stride(level);
  const double turns = std::max(1.0, std::ceil(bytes / part));
  return {.shared = {.messages = radices.levels * turns, .bytes = bytes * (shown + others), .reduced = bytes * others},
          .messages = {},
          .arrivals = partners_at_all_levels(radices) * turns,
          .far = bytes * problem.ranks * (parts - 1) / parts};
}

/// A part of each block, on this rank. Before `level` it has what its group of that level gives for the ranks with its
/// place in the others: block i of these is at place i of the slot.
struct Turn {
  SharedGroup& memory;
  DomainRank me;
  const Arguments& arguments;
  std::size_t part;
  std::size_t done;
  std::size_t bytes;

  [[nodiscard]] const std::byte* input(int position) const {
    const auto block = static_cast<std::size_t>(me.rank_at(position));
    return arguments.in + block * arguments.call.bytes() + done;
  }
  [[nodiscard]] std::byte* place(Round round, int rank, int i) const {
    return memory.slot(round, rank) + static_cast<std::size_t>(i) * part;
  }

  void show_input(Round round) const {
    for (int position = 0; position < memory.size(); ++position) {
      if (position % me.radix(0) == me.digit(0)) continue;
      memory.put(place(round, memory.rank(), position), input(position), bytes);
    }
  }

  /// Reduces this rank's blocks of those its partners show in `round`: into its slot of `next`, or at last into `out`.
  void reduce(int level, Round round, Round next, const Reduction& reduction) const {
    const int left = memory.size() / me.stride(level + 1);
    for (int i = 0; i < left; ++i) {
      const int from = i * me.radix(level) + me.digit(level);
      const std::span<const std::byte*> inputs = memory.places(me.radix(level));
      for (int digit = 0; digit < me.radix(level); ++digit) {
        const int partner = me.partner(level, digit);
        inputs[static_cast<std::size_t>(digit)] = place(round, partner, from);
        if (partner != memory.rank()) memory.count_read(partner, bytes);
      }
      if (level == 0) inputs[static_cast<std::size_t>(me.digit(0))] = input(from);
      const bool last = level + 1 == me.levels();
      reduction.all(last ? arguments.out + done : place(next, memory.rank(), i), inputs, bytes);
    }
  }
};

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const DomainRank me(memory, memory.rank());
  const std::size_t all = arguments.call.bytes();
  const std::size_t part = part_of(arguments.call, memory.slot_bytes(), memory.size());
  std::size_t done = 0;
  do {
    const Turn turn{memory, me, arguments, part, done, std::min(part, all - done)};
    Round round = co_await memory.open(data_slots);
    turn.show_input(round);
    for (int level = 0; level < me.levels(); ++level) {
      memory.arrive(round);
      for (int digit = 0; digit < me.radix(level); ++digit) co_await memory.arrival(round, me.partner(level, digit));
      const bool last = level + 1 == me.levels();
      Round next = round;
      if (!last) next = co_await memory.open(data_slots);
      turn.reduce(level, round, next, reduction);
      round = next;
    }
    memory.know_arrivals(round + 1 - static_cast<Round>(me.levels()));
    done += turn.bytes;
  } while (done < all);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "domains",
    .summary = "blocks are reduced inside the domains, then between them, then between packages: large nodes",
    .source = "Lanes: Traeff and Hunold, CLUSTER 2020; in shared memory: Jain et al., SC 2018",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::reduce_scatter_block_domains
