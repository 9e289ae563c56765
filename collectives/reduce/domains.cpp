// SPDX-License-Identifier: Apache-2.0
//
// Domains reduce: each package, and each domain of the root's package, reduces its own vectors, the work shared among
// its ranks; those of the root's domain take that in, a share each, and the root takes in their shares: each package
// and domain gives n once.
//
// Two packages of two ranks, root 0, pieces A B C D, and what a rank has reduced so far:
//
//                      rank 0        rank 1    rank 2    rank 3
//   in the package     A01 B01       C01 D01   A23 B23   C23 D23
//   to the root's      A0123 B0123   C0123 D0123
//   to the root        A B C D
//
// With L levels L + 1 rounds for each slot's length of the vector. With domains of d ranks the root reads about 2n, and
// n/d from each other domain and package. Data of up to a cell is reduced whole by one rank of each (of_partners.hpp).

#include "reduce/of_partners.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::reduce_domains {
namespace {

bool applies(const Problem& problem) {
  return has_domains(problem) && problem.call.commutes() && problem.call.element_bytes() <= problem.slot_bytes;
}

Traffic traffic(const Problem& problem) {
  if (problem.call.bytes() <= short_cells.bytes) return reduce_of_partners::traffic(problem);
  const Radices& radices = problem.domains;
  const double bytes = static_cast<double>(problem.call.bytes());
  const double share = bytes / radices.radix(0);
  const double partners = partners_at_all_levels(radices);
  const double chunks = std::ceil(bytes / static_cast<double>(problem.call.whole_bytes(problem.slot_bytes)));
  const double shown = bytes + share * (radices.levels - 2);
  const double fetched = bytes - share;
  return {.shared = {.messages = (radices.levels + 1) * chunks,
                     .bytes = shown + share * partners + fetched,
                     .reduced = share * partners},
          .messages = {},
          .arrivals = (partners + radices.radix(0)) * chunks,
          .far = bytes * (radices.radix(radices.levels - 1) - 1)};
}

/// A slot's length of the vector, on this rank.
struct Chunk {
  SharedGroup& memory;
  DomainRank me;
  int distance;  // of the root
  Pieces pieces;
  Arguments data;

  [[nodiscard]] bool is_root() const { return memory.rank() == data.call.root; }
  [[nodiscard]] Share share(int level, int rank) const {
    return Share::of(pieces, memory.shape().radices(), level, memory.shape().position(rank));
  }
  /// In how many parts, by as many ranks, the group across `level` shows a share of this rank's domain.
  [[nodiscard]] int parts(int level) const { return me.stride(level) / me.radix(0); }
  /// The rank that shows `part` in the group with `digit` at `level`.
  [[nodiscard]] int source(int level, int digit, int part) const {
    const int outer = me.position() / me.stride(level + 1) * me.stride(level + 1);
    return me.rank_at(outer + digit * me.stride(level) + part * me.radix(0) + me.digit(0));
  }

  /// Reduces `range` of what the ranks at `part` across `level` show in `round` into `out`.
  void reduce(int level, int part, Share range, Round round, std::byte* out, const Reduction& reduction) const {
    const std::span<const std::byte*> inputs = memory.places(me.radix(level));
    for (int digit = 0; digit < me.radix(level); ++digit) {
      const bool own = digit == me.digit(level);
      const int rank = own ? memory.rank() : part < 0 ? me.partner(level, digit) : source(level, digit, part);
      const std::byte* shown = own && level == 0 ? data.in : memory.slot(round, rank);
      inputs[static_cast<std::size_t>(digit)] = shown + range.begin;
      if (!own) memory.count_read(rank, range.bytes());
    }
    reduction.all(out + range.begin, inputs, range.bytes());
  }

  void take(int level, Round round, Round next, const Reduction& reduction) const {
    std::byte* const slot = memory.slot(next, memory.rank());
    if (level == 0 || distance > level)
      return reduce(level, -1, share(level + 1, memory.rank()), round, slot, reduction);
    std::byte* const out = is_root() && level + 1 == me.levels() ? data.out : slot;
    for (int part = 0; distance <= 0 && part < parts(level); ++part) {
      reduce(level, part, share(level, source(level, me.digit(level), part)), round, out, reduction);
    }
  }

  void fetch_shares(Round round) const {
    for (int turn = 1; turn < me.radix(0); ++turn) {
      const int partner = me.partner(0, (me.digit(0) + turn) % me.radix(0));
      const Share theirs = share(1, partner);
      fetch(memory, partner, data.out + theirs.begin, memory.slot(round, partner) + theirs.begin, theirs.bytes());
    }
  }
};

Task<> by_shares(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const DomainRank me(memory, memory.rank());
  const int distance = me.distance(DomainRank(memory, arguments.call.root));
  const std::size_t all = arguments.call.bytes();
  const std::size_t longest = arguments.call.whole_bytes(memory.slot_bytes());
  for (std::size_t done = 0; done < all; done += longest) {
    const std::size_t bytes = std::min(longest, all - done);
    const Arguments data{arguments.call, arguments.in + done, distance < 0 ? arguments.out + done : nullptr};
    const Chunk chunk{memory, me, distance, Pieces(bytes, arguments.call.element_bytes(), memory.size()), data};
    Round round = co_await memory.open(data_slots);
    put_without(memory, memory.slot(round, memory.rank()), data.in, {0, bytes}, chunk.share(1, memory.rank()));
    for (int level = 0; level < me.levels(); ++level) {
      memory.arrive(round);
      for (int digit = 0; digit < me.radix(level); ++digit) {
        co_await memory.arrival(round, me.partner(level, digit));
        for (int part = 0; distance <= 0 && part < chunk.parts(level); ++part) {
          co_await memory.arrival(round, chunk.source(level, digit, part));
        }
      }
      const Round next = co_await memory.open(data_slots);
      chunk.take(level, round, next, reduction);
      round = next;
    }
    memory.know_arrivals(round - static_cast<Round>(me.levels()));
    memory.arrive(round);
    if (distance != -1) continue;
    for (int digit = 0; digit < me.radix(0); ++digit) co_await memory.arrival(round, me.partner(0, digit));
    chunk.fetch_shares(round);
  }
}

Task<> run(Transport& transport, Arguments arguments) {
  if (arguments.call.bytes() <= payload_bytes) return reduce_of_partners::run<InLine>(transport, arguments);
  if (arguments.call.bytes() <= short_cells.bytes) return reduce_of_partners::run<InCell>(transport, arguments);
  return by_shares(transport, arguments);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "domains",
    .summary = "each part of the node reduces its own vectors and gives the result once: large nodes",
    .source = "Lanes: Traeff and Hunold, CLUSTER 2020; in shared memory: Jain et al., SC 2018",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::reduce_domains
