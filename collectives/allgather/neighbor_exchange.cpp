// SPDX-License-Identifier: Apache-2.0
//
// Neighbor exchange allgather: each rank swaps blocks with its two neighbours in turn, at first its own, then always
// the two that it got last.
//
// With p = 6, and ab for the blocks a and b, what each rank gets:
//
//            rank 0    rank 1    rank 2    rank 3    rank 4    rank 5
//   step 0   1         0         3         2         5         4         0 with 1, 2 with 3, 4 with 5
//   step 1   45        23        01        45        23        01        1 with 2, 3 with 4, 5 with 0
//   step 2   23        45        45        01        01        23        0 with 1, 2 with 3, 4 with 5
//
// As `ring` in half as many steps, each of which goes both ways: for medium blocks. For an even number of ranks.

#include "algorithm.hpp"
#include "reduction.hpp"

namespace chorus::allgather_neighbor_exchange {
namespace {

bool applies(const Problem& problem) { return problem.ranks % 2 == 0; }

Traffic traffic(const Problem& problem) {
  return {.shared = {},
          .messages = {.messages = problem.ranks / 2.0,
                       .bytes = (problem.ranks - 1) * static_cast<double>(problem.call.bytes()),
                       .reduced = 0},
          .to_next = 1};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const std::size_t bytes = arguments.call.bytes();
  const auto block = [&](int rank) { return Bytes(arguments.out + static_cast<std::size_t>(rank) * bytes, bytes); };
  const auto pair = [&](int number) {
    const int first = 2 * ((number + ranks) % (ranks / 2));
    return Bytes(block(first).data(), 2 * bytes);
  };
  const int side = me % 2 == 0 ? 1 : -1;  // of the neighbour in the even steps
  const int neighbours[] = {me + side, (me - side + ranks) % ranks};

  if (arguments.in != arguments.out) copy_unless_same(block(me).data(), arguments.in, bytes);
  co_await transport.sendrecv(block(me), neighbours[0], block(neighbours[0]), neighbours[0]);
  int last = me / 2;
  for (int step = 1; step < ranks / 2; ++step) {
    const int distance = (step + 1) / 2 * (step % 2 == 0 ? side : -side);
    const int next = me / 2 + distance;
    co_await transport.sendrecv(pair(last), neighbours[step % 2], pair(next), neighbours[step % 2]);
    last = next;
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "neighbor_exchange",
    .summary = "neighbours swap what they got last, to the left and to the right in turn: half the steps of a ring",
    .source = "Chen, Zhang, Zhang and Yuan, HPC Asia 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allgather_neighbor_exchange
