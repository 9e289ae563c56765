// SPDX-License-Identifier: Apache-2.0
//
// Circulant reduction: the circulant broadcast backwards; blocks are reduced on their way to the root round a circle.
//
// The vector is cut into n blocks. In each of n - 1 + log2(p) rounds a rank gives away what it has reduced of one block
// and reduces another one that comes in (broadcast_schedule.hpp). With p = 3, root 0 and the blocks 0 and 1, block b of
// rank r written rb:
//
//            rank 0            rank 1            rank 2
//   start    00 01             10 11             20 21
//   round 1  00 01+21          -  11             20+10 -          block 1 goes from 2 to 0, block 0 from 1 to 2
//   round 2  00 ALL            -  -              20+10 -          block 1 goes from 1 to 0
//   round 3  ALL ALL           -  -              -  -             block 0 goes from 2 to 0
//
// Best for long vectors on many ranks: the fewest rounds there can be for any p and n, and each rank sends the vector
// once, where `reduce_scatter_gather` sends up to 3/2 of it. All of it comes in at the root, which reduces it all.

#include "algorithm.hpp"
#include "blocks.hpp"
#include "broadcast_schedule.hpp"
#include "reduction.hpp"

namespace chorus::reduce_circulant {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  if (problem.ranks == 1) return {};
  const int count = BroadcastSchedule::best_blocks(problem.call, problem.ranks, problem.links);
  const Blocks blocks(problem.call, count);
  const int rounds = count - 1 + CirculantRounds(problem.ranks).count();
  // A rank sends each block once; the root gets one in every round, of which the last block comes again and again.
  const auto all = static_cast<double>(problem.call.bytes());
  const double again = (rounds - count) * static_cast<double>(blocks.bytes(0));
  return {.shared = {},
          .messages = {.messages = static_cast<double>(rounds), .bytes = all, .reduced = all + again},
          .waited = {.messages = 0, .bytes = again, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int ranks = transport.size();
  const int root = arguments.call.root;
  const bool is_root = transport.rank() == root;
  const int count = BroadcastSchedule::best_blocks(arguments.call, ranks, arguments.links);
  const BroadcastSchedule schedule((transport.rank() + ranks - root) % ranks, ranks, count);
  const Blocks blocks(arguments.call, count);
  const Reduction reduction(arguments);
  const Scratch scratch = transport.scratch(blocks.longest_bytes() + (is_root ? 0 : arguments.call.bytes()));
  std::byte* const sums = is_root ? arguments.out : scratch.data() + blocks.longest_bytes();
  const auto sum_of = [&](int number) {  // as in the broadcast, the schedule's last block is the first here
    return number < 0 ? Bytes() : Bytes(sums + blocks.offset(-1 - number), blocks.bytes(-1 - number));
  };
  const auto rank_at = [&](int place) { return place == no_rank ? no_rank : (place + root) % ranks; };

  copy_unless_same(sums, arguments.in, arguments.call.bytes());
  for (int number = schedule.rounds() - 1; number >= 0; --number) {
    const BroadcastSchedule::Round round = schedule.round(number);
    if (round.idle()) continue;
    const Bytes mine = sum_of(round.outgoing);
    const Bytes incoming = scratch.bytes().first(mine.size());
    co_await transport.sendrecv(sum_of(round.incoming), rank_at(round.behind), incoming, rank_at(round.ahead));
    reduction.into_left(mine, incoming);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "circulant",
    .summary = "the circulant broadcast backwards: fewest rounds, each rank sends the vector once",
    .source = "Traeff, arXiv:2407.18004, 2024",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_circulant
