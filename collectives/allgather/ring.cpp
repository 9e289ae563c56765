// SPDX-License-Identifier: Apache-2.0
//
// Ring allgather: in p-1 steps each rank passes on to its right neighbour the block that it got last.
//
// With p = 4, the blocks that each rank has:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0         1         2         3
//   step 1   0..3      01..      .12.      ..23
//   step 2   0.23      01.3      012.      .123
//   step 3   0123      0123      0123      0123
//
// Good for long blocks: each rank sends what it must, straight from and to its place in `out`, and only to its
// neighbour, which is near in most placements. Its p-1 messages make it slow for short blocks. Right for any p.

#include "ring.hpp"
#include "algorithm.hpp"
#include "reduction.hpp"

namespace chorus::allgather_ring {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const double steps = problem.ranks - 1;
  return {.shared = {},
          .messages = {.messages = steps, .bytes = steps * static_cast<double>(problem.call.bytes()), .reduced = 0},
          .to_next = 1};
}

Task<> run(Transport& transport, Arguments arguments) {
  const std::size_t bytes = arguments.call.bytes();
  const auto block = [&](int rank) { return Bytes(arguments.out + static_cast<std::size_t>(rank) * bytes, bytes); };

  if (arguments.in != arguments.out) copy_unless_same(block(transport.rank()).data(), arguments.in, bytes);
  co_await pass_round(transport, block);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "ring",
    .summary = "blocks go round a ring: neighbours only, many messages",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allgather_ring
