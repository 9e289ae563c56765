// SPDX-License-Identifier: Apache-2.0
//
// Bruck's allgather: each round doubles the blocks that a rank has, its own and those of the ranks that follow it.
//
// In round k a rank sends what it has to the rank 2^k before it and gets as much from the rank 2^k after it. With
// p = 5, the blocks that each rank has, its own first:
//
//            rank 0    rank 1    rank 2    rank 3    rank 4
//   start    0         1         2         3         4
//   round 0  01        12        23        34        40
//   round 1  0123      1234      2340      3401      4012
//   round 2  01234     12340     23401     34012     40123     the last round takes only what is missing
//
// Best for short blocks: log2(p) rounds, rounded up, for any p, and no byte more than needed. All blocks are copied
// once more to put them in the order of the ranks: for long blocks `ring` is better.

#include "algorithm.hpp"
#include "blocks.hpp"
#include "circulant.hpp"

#include <algorithm>
#include <bit>

namespace chorus::allgather_bruck {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const int rounds = std::bit_width(static_cast<unsigned>(problem.ranks - 1));
  return {.shared = {},
          .messages = {.messages = static_cast<double>(rounds),
                       .bytes = (problem.ranks - 1) * static_cast<double>(problem.call.bytes()),
                       .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const auto count = arguments.call.count * static_cast<std::size_t>(ranks);
  const Blocks blocks(count, arguments.call.element_bytes(), ranks);
  const TurnedBlocks turned_blocks(blocks, ranks, me);
  const Scratch scratch = transport.scratch(turned_blocks.offset(ranks));
  const Bytes turned = scratch.bytes();

  const bool in_place = arguments.in == arguments.out;
  const std::byte* const own = in_place ? arguments.out + blocks.offset(me) : arguments.in;
  copy_unless_same(turned.data(), own, arguments.call.bytes());
  for (int known = 1; known < ranks; known *= 2) {
    const int length = std::min(known, ranks - known);
    const Bytes incoming = turned_blocks.range(turned, known, known + length);
    const int before = (me + ranks - known) % ranks;
    const int after = (me + known) % ranks;
    co_await transport.sendrecv(turned_blocks.range(turned, 0, length), before, incoming, after);
  }
  turned_blocks.turn_back(arguments.out, turned.data());
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "bruck",
    .summary = "doubles the blocks of each rank in a round, then puts them in order: few messages",
    .source = "Bruck, Ho, Kipnis, Upfal and Weathersby, IEEE Trans. Parallel Distrib. Syst. 8(11), 1997",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allgather_bruck
