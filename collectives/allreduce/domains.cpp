// SPDX-License-Identifier: Apache-2.0
//
// Domains allreduce: reduce-scatter through the shared memory from the inside of the node out, then allgather from the
// outside in, so that what crosses between packages is what one rank would send, however many there are.
//
// At each level a rank exchanges with the ranks that have its place in the other parts alone. Two packages of two
// ranks, pieces A B C D, and what a rank has reduced so far:
//
//                      rank 0    rank 1    rank 2    rank 3
//   in the package     A01 B01   C01 D01   A23 B23   C23 D23
//   between packages   A0123     C0123     B0123     D0123
//   between packages   A B       C D       A B       C D
//   in the package     A B C D on all
//
// With L levels 2L rounds for each slot's length of the vector. Of s packages each takes in 2n (s-1)/s bytes, which is
// the least; flat forms take in as much for each of its ranks. Data of up to a cell is not cut into pieces: at each
// level all partners reduce all of it, so that there are L rounds, and each rank of a package takes in n (s-1). The
// result is the same on all ranks, as partners reduce in the same order.

#include "domains.hpp"
#include "allreduce/of_all.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::allreduce_domains {
namespace {

bool applies(const Problem& problem) {
  return has_domains(problem) && problem.call.commutes() && problem.call.element_bytes() <= problem.slot_bytes;
}

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const Radices& radices = problem.domains;
  const double partners = partners_at_all_levels(radices);
  const double parts = radices.radix(radices.levels - 1);
  if (problem.call.bytes() <= short_cells.bytes) return allreduce_of_all::traffic(problem);
  const double others = (problem.ranks - 1.0) / problem.ranks;
  double shown = 0;  // on the way in
  for (int level = 1; level <= radices.levels; ++level) shown += bytes / radices.stride(level);
  const double chunks = std::ceil(bytes / static_cast<double>(problem.call.whole_bytes(problem.slot_bytes)));
  return {.shared = {.messages = 2 * radices.levels * chunks,
                     .bytes = bytes * 3 * others + shown,
                     .reduced = bytes * others},
          .messages = {},
          .arrivals = 2 * partners * chunks,
          .far = 2 * bytes * (parts - 1) / parts};
}

/// A slot's length of the vector, on this rank.
struct Chunk {
  SharedGroup& memory;
  DomainRank me;
  Pieces pieces;
  Arguments data;

  [[nodiscard]] Share share(int level, int rank) const {
    const NodeShape& shape = memory.shape();
    return Share::of(pieces, shape.radices(), level, shape.position(rank));
  }
  [[nodiscard]] Share share(int level) const { return share(level, memory.rank()); }

  /// Reduces this rank's next share of what its partners of `level` show in `round`, and shows in `next` what its
  /// partners need of that.
  void reduce(int level, Round round, Round next, const Reduction& reduction) const {
    const Share mine = share(level + 1);
    const Share kept = level + 1 < me.levels() ? share(level + 2) : Share{mine.end, mine.end};
    const std::byte* own = level == 0 ? data.in : data.out;
    const std::size_t block = block_copied_on(data.call);
    for (std::size_t offset = mine.begin; offset < mine.end; offset += block) {
      const Share part{offset, std::min(offset + block, mine.end)};
      const std::span<const std::byte*> inputs = memory.places(me.radix(level));
      for (int digit = 0; digit < me.radix(level); ++digit) {
        const int partner = me.partner(level, digit);
        const bool is_own = partner == memory.rank();
        inputs[static_cast<std::size_t>(digit)] = (is_own ? own : memory.slot(round, partner)) + offset;
        if (!is_own) memory.count_read(partner, part.bytes());
      }
      reduction.all(data.out + offset, inputs, part.bytes());
      put_without(memory, memory.slot(next, memory.rank()), data.out, part, kept);
    }
  }

  /// Fetches what this rank's partners of `level` have beyond it.
  void fetch_from_partners(int level, Round round) const {
    for (int step = 1; step < me.radix(level); ++step) {
      const int partner = me.partner(level, (me.digit(level) + step) % me.radix(level));
      const Share theirs = share(level + 1, partner);
      fetch(memory, partner, data.out + theirs.begin, memory.slot(round, partner) + theirs.begin, theirs.bytes());
    }
  }
};

Task<> by_shares(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const DomainRank me(memory, memory.rank());
  const auto before_last = static_cast<Round>(me.levels() - 1);
  const std::size_t all = arguments.call.bytes();
  const std::size_t longest = arguments.call.whole_bytes(memory.slot_bytes());
  for (std::size_t done = 0; done < all; done += longest) {
    const std::size_t bytes = std::min(longest, all - done);
    const Chunk chunk{memory, me, Pieces(bytes, arguments.call.element_bytes(), memory.size()),
                      Arguments{arguments.call, arguments.in + done, arguments.out + done}};
    Round round = co_await memory.open(data_slots);
    put_without(memory, memory.slot(round, memory.rank()), chunk.data.in, {0, bytes}, chunk.share(1));
    for (int level = 0; level < me.levels(); ++level) {
      memory.arrive(round);
      for (int digit = 0; digit < me.radix(level); ++digit) co_await memory.arrival(round, me.partner(level, digit));
      const Round next = co_await memory.open(data_slots);
      chunk.reduce(level, round, next, reduction);
      round = next;
    }
    memory.know_arrivals(round - 1 - before_last);
    for (int level = me.levels() - 1; level >= 0; --level) {
      memory.arrive(round);
      for (int digit = 0; digit < me.radix(level); ++digit) co_await memory.arrival(round, me.partner(level, digit));
      chunk.fetch_from_partners(level, round);
      if (level == 0) break;
      round = co_await memory.open(data_slots);
      put_without(memory, memory.slot(round, memory.rank()), chunk.data.out, chunk.share(level), {});
    }
    memory.know_arrivals(round - before_last);
  }
}

Task<> run(Transport& transport, Arguments arguments) {
  if (arguments.call.bytes() <= payload_bytes) return allreduce_of_all::run<InLine>(transport, arguments);
  if (arguments.call.bytes() <= short_cells.bytes) return allreduce_of_all::run<InCell>(transport, arguments);
  return by_shares(transport, arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "domains",
    .summary = "reduce-scatter from the inside of the node out, allgather back in: the least between its packages",
    .source = "Lanes: Traeff and Hunold, CLUSTER 2020; in shared memory: Jain et al., SC 2018",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::allreduce_domains
