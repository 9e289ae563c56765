// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "domains.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::allreduce_of_all {

// Short data along the domains of a node: at each level, from the inside out, every rank shows all that it has reduced
// so far to its partners, and reduces theirs, in the order of their digits.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double levels = problem.domains.levels;
  const double partners = partners_at_all_levels(problem.domains);
  const double parts = problem.domains.radix(problem.domains.levels - 1);
  return {.shared = {.messages = levels, .bytes = bytes * (levels + partners), .reduced = bytes * partners},
          .messages = {},
          .arrivals = partners,
          .far = bytes * (parts - 1) * problem.ranks / parts};
}

template <class Place>
Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const DomainRank me(memory, memory.rank());
  const Reduction reduction(arguments);
  const std::size_t bytes = arguments.call.bytes();
  const std::byte* mine = arguments.in;
  Round round = 0;
  for (int level = 0; level < me.levels(); ++level) {
    round = co_await memory.open(Place::slots);
    Place::write(memory, round, mine, bytes);
    memory.arrive(round);
    for (int digit = 0; digit < me.radix(level); ++digit) co_await memory.arrival(round, me.partner(level, digit));
    reduction.all(arguments.out, vectors_of<Place>(memory, me, level, round, mine, bytes), bytes);
    mine = arguments.out;
  }
  memory.know_arrivals(round + 1 - static_cast<Round>(me.levels()));
}

}  // namespace chorus::allreduce_of_all
