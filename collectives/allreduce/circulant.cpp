// SPDX-License-Identifier: Apache-2.0
//
// Circulant allreduce: reduce-scatter and allgather in log2(p) rounds each, rounded up, with the least bytes for any p.
//
// Each rank turns the vector so that its own block comes first. In each round it passes the later half of the blocks it
// still holds on to the rank that lies so far ahead, and reduces what comes in from as far behind into the first ones.
// With p = 3 and block b of rank r written rb:
//
//            rank 0            rank 1            rank 2
//   start    00 01 02          11 12 10          22 20 21
//   round 1  00+10 01          11+21 12          22+02 20         the last block goes 2 ahead: to the left neighbour
//   round 2  ALL               ALL               ALL              the second goes 1 ahead; block 0, 1, 2 is finished
//   round 3+4 the same rounds backwards give each rank the others' finished blocks.
//
// The best for long vectors where p is no power of two: no rank folds into another, unlike in `rabenseifner`, and it
// takes far fewer messages than `ring`. It copies the vector twice, to turn it and to turn it back.

#include "circulant.hpp"
#include "algorithm.hpp"
#include "blocks.hpp"
#include "reduction.hpp"

namespace chorus::allreduce_circulant {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const Blocks blocks(problem.call, problem.ranks);
  const CirculantRounds rounds(problem.ranks);
  // Rank 0 takes in the longest blocks. It sends all but its own on the way out, and on the way back as it took in.
  const std::size_t reduced = rounds.reduced_bytes(blocks);
  return {.shared = {},
          .messages = {.messages = 2.0 * rounds.count(),
                       .bytes = static_cast<double>(problem.call.bytes() - blocks.bytes(0) + reduced),
                       .reduced = static_cast<double>(reduced)}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const Blocks blocks(arguments.call, transport.size());
  const TurnedBlocks turned_blocks(blocks, transport.size(), transport.rank());
  const Scratch turned = transport.scratch(arguments.call.bytes());

  turned_blocks.turn(turned.data(), arguments.in);
  co_await circulant_reduce_scatter(transport, turned_blocks, reduction, turned.bytes());
  co_await circulant_allgather(transport, turned_blocks, turned.bytes());
  turned_blocks.turn_back(arguments.out, turned.data());
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "circulant",
    .summary = "halves the blocks round a circle: least bytes in few messages for any number of ranks",
    .source = "Traeff, arXiv:2410.14234, 2024",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allreduce_circulant
