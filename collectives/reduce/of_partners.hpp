// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "domains.hpp"
#include "one_round.hpp"
#include "reduction.hpp"

namespace chorus::reduce_of_partners {

// Short data along the domains of a node, from the inside out: in each domain the rank with the root's place reduces
// for it, then in each package the one that has the root's place there, and at last the root.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double partners = partners_at_all_levels(problem.domains);
  return {.shared = {.messages = static_cast<double>(problem.domains.levels),
                     .bytes = bytes * partners,
                     .reduced = bytes * partners},
          .messages = {},
          .arrivals = partners,
          .far = bytes * (problem.domains.radix(problem.domains.levels - 1) - 1)};
}

template <class Place>
Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const DomainRank me(memory, memory.rank());
  const DomainRank root(memory, arguments.call.root);
  const Reduction reduction(arguments);
  const std::size_t bytes = arguments.call.bytes();
  const Scratch partial = transport.scratch(bytes);
  const std::byte* mine = arguments.in;
  for (int level = 0; level < me.levels(); ++level) {
    const bool takes = me.same_below(root, level + 1);
    const bool gives = me.same_below(root, level) && !takes;
    const Round round = co_await memory.open(Place::slots);
    if (gives) Place::write(memory, round, mine, bytes);
    memory.arrive(round);
    if (!takes) continue;
    for (int digit = 0; digit < me.radix(level); ++digit) co_await memory.arrival(round, me.partner(level, digit));
    std::byte* const result = level + 1 < me.levels() ? partial.data() : arguments.out;
    reduction.all(result, vectors_of<Place>(memory, me, level, round, mine, bytes), bytes);
    mine = result;
  }
}

}  // namespace chorus::reduce_of_partners
