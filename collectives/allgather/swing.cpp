// SPDX-License-Identifier: Apache-2.0
//
// Swing allgather: in each step two ranks swap all blocks they have; the partners draw nearer, ahead and behind in
// turn.
//
// With p = 4, the blocks that each rank has:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0         1         2         3
//   step 1   03        12        12        03        0 with 3, round the end, 1 with 2
//   step 2   0312      0312      0312      0312      0 with 1, 2 with 3: the longest message to the nearest rank
//
// What two partners have is no row of blocks: they are kept in an order in which it is one, and copied to their places
// in the end. For a power of two ranks, and short blocks, on networks where distance costs (`swing` of allreduce); the
// model holds it for equal to `recursive_doubling`. Bine's butterfly pairs the ranks alike.

#include "algorithm.hpp"
#include "halving.hpp"

#include <bit>

namespace chorus::allgather_swing {
namespace {

bool applies(const Problem& problem) { return std::has_single_bit(static_cast<unsigned>(problem.ranks)); }

Traffic traffic(const Problem& problem) { return traffic_of_pairs<Swing>(problem, Longest::to_the_nearest); }

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const std::size_t bytes = arguments.call.bytes();
  const std::size_t all = static_cast<std::size_t>(ranks) * bytes;
  const Halving<Swing> halving(Blocks(all, 1, ranks), ranks);
  const Scratch scratch = transport.scratch(all);
  const Bytes vector = scratch.bytes();
  const auto place_of = [&](int rank) { return arguments.out + static_cast<std::size_t>(rank) * bytes; };
  const auto block_of = [&](int rank) { return halving.piece(vector, rank, halving.steps()).data(); };

  copy_unless_same(block_of(me), arguments.in == arguments.out ? place_of(me) : arguments.in, bytes);
  const Fold fold(me, ranks);
  co_await doubling_allgather(transport, fold, halving, vector);
  for (int rank = 0; rank < ranks; ++rank) copy_unless_same(place_of(rank), block_of(rank), bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "swing",
    .summary =
        "pairs swap all they have, the nearest last: few messages over short distances; for a power of two ranks",
    .source = "De Sensi, Bonato, Saam and Hoefler, NSDI 2024; De Sensi et al., SC 2025 (Bine)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allgather_swing
