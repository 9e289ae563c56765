// SPDX-License-Identifier: Apache-2.0
//
// Domains allgather: every rank fetches the blocks of its partners in the other packages, then all that its partners in
// the other domains have, then all that its neighbours have: each block crosses to each package and domain once.
//
// Two packages of two ranks, blocks A B C D:
//
//                      rank 0    rank 1    rank 2    rank 3
//   between packages   A C       B D       A C       B D
//   in the package     A B C D on all
//
// One round a level for as much of each block as fits: at last a slot holds all blocks but for those of the neighbours.
// A rank reads n(p-1), as in any form, and writes its block and those that it passes on.

#include "domains.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::allgather_domains {
namespace {

/// How much of a block goes into a slot at a time.
std::size_t part_of(std::size_t slot_bytes, const Radices& radices) {
  return part_of_block(slot_bytes, radices.stride(radices.levels) / radices.radix(0));
}

bool applies(const Problem& problem) {
  return has_domains(problem) && part_of(problem.slot_bytes, problem.domains) > 0;
}

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const Radices& radices = problem.domains;
  const double parts = radices.radix(radices.levels - 1);
  double shown = 0;  // blocks
  for (int level = 1; level <= radices.levels; ++level) shown += problem.ranks / radices.stride(level);
  const double turns = std::max(1.0, std::ceil(bytes / static_cast<double>(part_of(problem.slot_bytes, radices))));
  return {.shared = {.messages = radices.levels * turns, .bytes = bytes * (shown + problem.ranks - 1), .reduced = 0},
          .messages = {},
          .arrivals = partners_at_all_levels(radices) * turns,
          .far = bytes * problem.ranks * (parts - 1) / parts};
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const DomainRank me(memory, memory.rank());
  const std::size_t all = arguments.call.bytes();
  const std::size_t part = part_of(memory.slot_bytes(), memory.shape().radices());
  const auto block = [&](int rank) { return arguments.out + static_cast<std::size_t>(rank) * all; };
  const std::byte* mine = arguments.in == arguments.out ? block(memory.rank()) : arguments.in;
  copy_unless_same(block(memory.rank()), mine, all);
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(part, all - done);
    Round round = 0;
    for (int level = me.levels() - 1; level >= 0; --level) {
      const int stride = me.stride(level + 1);  // between the ranks whose blocks one rank has when the level begins
      const int held = memory.size() / stride;
      round = co_await memory.open(data_slots);
      for (int i = 0; i < held; ++i) {
        const int owner = me.rank_at(me.position() % stride + i * stride);
        memory.put(memory.slot(round, memory.rank()) + static_cast<std::size_t>(i) * part, block(owner) + done, bytes);
      }
      memory.arrive(round);
      for (int turn = 1; turn < me.radix(level); ++turn) {
        const int partner = me.partner(level, (me.digit(level) + turn) % me.radix(level));
        co_await memory.arrival(round, partner);
        const int first = DomainRank(memory, partner).position() % stride;
        for (int i = 0; i < held; ++i) {
          fetch(memory, partner, block(me.rank_at(first + i * stride)) + done,
                memory.slot(round, partner) + static_cast<std::size_t>(i) * part, bytes);
        }
      }
    }
    memory.know_arrivals(round + 1 - static_cast<Round>(me.levels()));
    done += bytes;
  } while (done < all);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "domains",
    .summary = "blocks go between packages, then between domains, then inside them: large nodes",
    .source = "Lanes: Traeff and Hunold, CLUSTER 2020; in shared memory: Jain et al., SC 2018",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allgather_domains
