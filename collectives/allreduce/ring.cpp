// SPDX-License-Identifier: Apache-2.0
//
// Ring allreduce: reduce-scatter, then allgather, each rank talking to its two neighbours only.
//
// The data is cut into p blocks. In p-1 steps each rank sends one block on and adds the one that comes in; it then
// owns one finished block, which p-1 further steps hand round. With p = 3 and block b of rank r written rb:
//
//            rank 0           rank 1           rank 2
//   start    00 01 02         10 11 12         20 21 22
//   step 1   00 01 22+02      00+10 11 12      20 11+21 22
//   step 2   00 ALL 22+02     00+10 11 ALL     ALL 11+21 22
//   step 3+4 each finished block goes round to the two ranks without it.
//
// Bandwidth-optimal, and right for any p and any count (blocks differ by one element at most, and may be empty). Its
// 2(p-1) messages make it slow for short vectors.

#include "ring.hpp"
#include "algorithm.hpp"
#include "blocks.hpp"
#include "reduction.hpp"

namespace chorus::allreduce_ring {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const Blocks blocks(problem.call, problem.ranks);
  const double steps = problem.ranks - 1;
  // In each phase a rank spares itself one block; for the busiest rank those are the two last and shortest.
  const auto all = static_cast<double>(problem.call.bytes());
  const auto last = static_cast<double>(blocks.bytes(-1));
  const auto last_but_one = static_cast<double>(blocks.bytes(-2));
  return {.shared = {},
          .messages = {.messages = 2 * steps, .bytes = 2 * all - last - last_but_one, .reduced = all - last},
          .to_next = 1};
}

Task<> run(Transport& transport, Arguments arguments) {
  const Blocks blocks(arguments.call, transport.size());
  const Reduction reduction(arguments);
  const int me = transport.rank();
  const int steps = transport.size() - 1;
  const int next = (me + 1) % transport.size();
  const int previous = (me + steps) % transport.size();
  const auto block = [&](int number) { return Bytes(arguments.out + blocks.offset(number), blocks.bytes(number)); };
  const Scratch scratch = transport.scratch(blocks.longest_bytes());

  copy_unless_same(arguments.out, arguments.in, arguments.call.bytes());
  for (int step = 0; step < steps; ++step) {
    const Bytes mine = block(me - step - 1);
    const Bytes incoming = scratch.bytes().first(mine.size());
    co_await transport.sendrecv(block(me - step), next, incoming, previous);
    reduction.into_right(incoming, mine);
  }
  co_await pass_round(transport, [&](int rank) { return block(rank + 1); });  // the one that it has joined last
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "ring",
    .summary = "reduce-scatter and allgather round a ring: least bytes, many messages",
    .source = "Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allreduce_ring
