// SPDX-License-Identifier: Apache-2.0
//
// Domains barrier: from the inside of the node out, every rank waits for its partners of a level alone.
//
// Who has waited at all levels knows of everybody, as its partners had waited for theirs: with 2 packages of 4 domains
// of 8 ranks it reads 7 + 3 + 1 lines in three rounds, one of them from the other package, where the flat `line` reads
// 63 in one, 32 of them from there.

#include "domains.hpp"

namespace chorus::barrier_domains {
namespace {

bool applies(const Problem& problem) { return has_domains(problem); }

Traffic traffic(const Problem& problem) {
  return {.shared = {.messages = static_cast<double>(problem.domains.levels), .bytes = 0, .reduced = 0},
          .messages = {},
          .arrivals = static_cast<double>(partners_at_all_levels(problem.domains))};
}

Task<> run(Transport& transport, Arguments /*arguments*/) {
  SharedGroup& memory = *transport.shared();
  const DomainRank me(memory, memory.rank());
  Round round = 0;
  for (int level = 0; level < me.levels(); ++level) {
    round = co_await memory.open(line_slots);
    memory.arrive(round);
    for (int digit = 0; digit < me.radix(level); ++digit) co_await memory.arrival(round, me.partner(level, digit));
  }
  memory.know_arrivals(round + 1 - static_cast<Round>(me.levels()));
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "domains",
    .summary = "ranks wait for each other in their domain, then across domains, then across packages: large nodes",
    .source = "Hensgen, Finkel and Manber, Int. J. Parallel Program. 17(1), 1988 (dissemination), by mixed radix",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::barrier_domains
