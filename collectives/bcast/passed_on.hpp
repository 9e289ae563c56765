// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "domains.hpp"
#include "one_round.hpp"

namespace chorus::bcast_passed_on {

// Short data along the domains of a node, from the outside in: at each level the ranks that have the data pass it on to
// their partners, so that one rank of each package takes it in, then one of each domain, then the rest.

inline Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double levels = problem.domains.levels;
  return {.shared = {.messages = levels, .bytes = levels * bytes, .reduced = 0},
          .messages = {},
          .arrivals = levels,
          .far = bytes};
}

template <class Place>
Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const DomainRank me(memory, memory.rank());
  const DomainRank root(memory, arguments.call.root);
  const std::byte* mine = memory.rank() == arguments.call.root ? arguments.in : arguments.out;
  const std::size_t bytes = arguments.call.bytes();
  for (int level = me.levels() - 1; level >= 0; --level) {
    const bool involved = me.same_below(root, level);
    const bool has = me.same_below(root, level + 1);
    const Round round = co_await memory.open(Place::slots);
    if (has) Place::write(memory, round, mine, bytes);
    memory.arrive(round);
    if (!involved || has) continue;
    const int giver = me.partner(level, root.digit(level));
    co_await memory.arrival(round, giver);
    fetch(memory, giver, arguments.out, Place::of(memory, round, giver), bytes);
  }
}

}  // namespace chorus::bcast_passed_on
