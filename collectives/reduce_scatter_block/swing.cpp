// SPDX-License-Identifier: Apache-2.0
//
// Swing reduce-scatter: two ranks share out the blocks they both hold; the partners go away, ahead and behind in turn.
//
// With p = 4, the blocks that each rank holds:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0312      0312      0312      0312
//   step 1   03        12        12        03        0 with 1, 2 with 3: the longest message to the nearest rank
//   step 2   0         1         2         3         0 with 3, round the end, 1 with 2
//
// What a rank keeps is no row of blocks: they are first copied into an order in which it is one. For a power of two
// ranks, and short blocks, on networks where distance costs (`swing` of allreduce); the model holds it for equal to
// `recursive_halving`, which sends the longest message to the farthest rank, and takes this one. Bine's butterfly pairs
// the ranks alike.

#include "algorithm.hpp"
#include "halving.hpp"

#include <bit>

namespace chorus::reduce_scatter_block_swing {
namespace {

bool applies(const Problem& problem) {
  return std::has_single_bit(static_cast<unsigned>(problem.ranks)) && problem.call.commutes();
}

Traffic traffic(const Problem& problem) { return traffic_of_halving<Swing>(problem, Longest::to_the_nearest); }

Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const int ranks = transport.size();
  const std::size_t bytes = arguments.call.bytes();
  const std::size_t all = static_cast<std::size_t>(ranks) * bytes;
  const Halving<Swing> halving(Blocks(all, 1, ranks), ranks);
  const Scratch scratch = transport.scratch(all + all / 2);
  const Bytes vector = scratch.bytes().first(all);
  const auto block_of = [&](int rank) { return halving.piece(vector, rank, halving.steps()).data(); };

  for (int rank = 0; rank < ranks; ++rank) {
    copy_unless_same(block_of(rank), arguments.in + static_cast<std::size_t>(rank) * bytes, bytes);
  }
  const Fold fold(transport.rank(), ranks);
  co_await halving_reduce_scatter(transport, fold, halving, reduction, vector, scratch.bytes().subspan(all));
  copy_unless_same(arguments.out, block_of(transport.rank()), bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "swing",
    .summary =
        "pairs share out what they hold, the nearest first: few messages over short distances; for a power of two",
    .source = "De Sensi, Bonato, Saam and Hoefler, NSDI 2024; De Sensi et al., SC 2025 (Bine)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_scatter_block_swing
