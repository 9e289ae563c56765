// SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling scan and exscan: in round k each rank sends what it has combined so far to the rank 2^k behind it,
// which joins it to its own from the left.
//
// With p = 6, the ranks whose data each rank has combined:
//
//            rank 0    rank 1    rank 2    rank 3    rank 4    rank 5
//   start    0         1         2         3         4         5
//   round 0  0         01        12        23        34        45
//   round 1  0         01        012       0123      1234      2345
//   round 2  0         01        012       0123      01234     012345
//
// For exscan a rank keeps, beside what it passes on, the same without its own data. Best for short vectors: log2(p)
// rounds, rounded up, for any p, with the whole vector in each; the order of the ranks is kept, so that operations need
// not commute. Long vectors on few ranks: `chain`.

#include "prefix.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <bit>

namespace chorus::scan_recursive_doubling {
namespace {

int rounds_of(int ranks) { return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1))); }

/// Reductions that the busiest rank makes.
int reductions(bool own, int ranks) {
  if (own) return rounds_of(ranks);
  int most = 0;
  for (int rank = 1; rank < ranks; ++rank) {
    const int received = rounds_of(rank + 1);
    const int sent_later = std::max(0, rounds_of(ranks - rank) - 1);
    most = std::max(most, received - 1 + std::min(received, sent_later));
  }
  return most;
}

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const double rounds = rounds_of(problem.ranks);
  const double bytes = static_cast<double>(problem.call.bytes());
  return {.shared = {},
          .messages = {.messages = rounds,
                       .bytes = rounds * bytes,
                       .reduced = reductions(has_own(problem.call), problem.ranks) * bytes}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const bool own = has_own(arguments.call);
  const std::size_t bytes = arguments.call.bytes();
  const Reduction reduction(arguments);
  const Scratch scratch = transport.scratch(own ? bytes : 2 * bytes);
  const Bytes incoming = scratch.bytes().first(bytes);
  const Bytes result(arguments.out, bytes);
  const Bytes combined = own ? result : scratch.bytes().subspan(bytes);

  copy_unless_same(combined.data(), arguments.in, bytes);
  for (int distance = 1; distance < ranks; distance *= 2) {
    const bool sends = me + distance < ranks;
    const bool receives = me >= distance;
    if (!sends && !receives) continue;
    const Envelope envelope{.outgoing = sends ? combined : Bytes(),
                            .destination = sends ? me + distance : no_rank,
                            .incoming = receives ? incoming : Bytes(),
                            .source = receives ? me - distance : no_rank,
                            .where = Where::here()};
    co_await transport.start(envelope);
    if (!receives) continue;
    if (!own && distance == 1) copy_unless_same(result.data(), incoming.data(), bytes);
    if (!own && distance > 1) reduction.into_right(incoming, result);
    const bool passes_on = me + 2 * distance < ranks;
    if (own || passes_on) reduction.into_right(incoming, combined);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "recursive_doubling",
    .summary = "each rank passes on what it has combined, over doubling distances: fewest rounds",
    .source = "Kogge and Stone, IEEE Trans. Comput. C-22(8), 1973; Hillis and Steele, Commun. ACM 29(12), 1986",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::scan_recursive_doubling
