// SPDX-License-Identifier: Apache-2.0
//
// Circulant broadcast: blocks follow one another on ways of their own round a circle, so that every link is busy.
//
// The data is cut into n blocks. In each of n - 1 + log2(p) rounds a rank passes one block on and gets one; which, and
// to whom, each rank finds out by itself (broadcast_schedule.hpp). With p = 5, root 0 and the blocks 0, 1, 2, what each
// rank has:
//
//              rank 1    rank 2    rank 3    rank 4
//   round 1    ...       0..       ...       ...
//   round 2    ...       0..       .1.       ...
//   round 3    ..2       0..       01.       .1.
//   round 4    .12       0.2       01.       01.
//   round 5    012       012       012       012
//
// Best for long data on many ranks: the fewest rounds there can be for any p and n, each byte is sent once, and the
// wait for the first block grows with log2(p), not with p as along a chain. The number of blocks grows with the root
// of the length; one block goes as in a binomial tree. For another root the ranks are counted from it.

#include "algorithm.hpp"
#include "blocks.hpp"
#include "broadcast_schedule.hpp"

namespace chorus::bcast_circulant {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  if (problem.ranks == 1) return {};
  const int count = BroadcastSchedule::best_blocks(problem.call, problem.ranks, problem.links);
  const Blocks blocks(problem.call, count);
  const int rounds = count - 1 + CirculantRounds(problem.ranks).count();
  // The root sends in every round: all blocks in turn, then the last one again and again.
  const std::size_t again = static_cast<std::size_t>(rounds - count) * blocks.bytes(0);
  return {.shared = {},
          .messages = {.messages = static_cast<double>(rounds),
                       .bytes = static_cast<double>(problem.call.bytes() + again),
                       .reduced = 0},
          // Each round has other partners than the one before, and begins when both of those are through: as was
          // measured between hosts (docs/performance.md), where a chain keeps its partners.
          .waited = {.messages = 2.0 * rounds, .bytes = 0, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int ranks = transport.size();
  const int root = arguments.call.root;
  const int count = BroadcastSchedule::best_blocks(arguments.call, ranks, arguments.links);
  const BroadcastSchedule schedule((transport.rank() + ranks - root) % ranks, ranks, count);
  const Blocks blocks(arguments.call, count);
  // The schedule's last block goes most often at the same time as others: none may be longer, so it is the first here.
  const auto block = [&](int number) {
    return number < 0 ? Bytes() : Bytes(arguments.out + blocks.offset(-1 - number), blocks.bytes(-1 - number));
  };
  const auto rank_at = [&](int place) { return place == no_rank ? no_rank : (place + root) % ranks; };

  for (int number = 0; number < schedule.rounds(); ++number) {
    const BroadcastSchedule::Round round = schedule.round(number);
    if (round.idle()) continue;
    co_await transport.sendrecv(block(round.outgoing), rank_at(round.ahead), block(round.incoming),
                                rank_at(round.behind));
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "circulant",
    .summary = "blocks follow one another round a circle: fewest rounds, each byte sent once, any number of ranks",
    .source = "Traeff, arXiv:2312.11236, 2023; arXiv:2407.18004, 2024",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::bcast_circulant
