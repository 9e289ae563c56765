// SPDX-License-Identifier: Apache-2.0
//
// Pairwise reduce-scatter: each rank sends every other rank that one's block, and reduces what the others send it.
//
// In step s rank r sends block r+s to rank r+s and gets its own block from rank r-s. With p = 3 and block b of rank r
// written rb:
//
//            rank 0          rank 1          rank 2
//   start    00              11              22
//   step 1   00+20           11+01           22+12           sends to the next rank
//   step 2   00+20+10        11+01+21        22+12+02        sends to the next but one
//
// Best for long blocks: no byte is sent or copied more than needed, straight from `in`, and every step is free of the
// ones before. Its p-1 messages make it slow for short blocks. Right for any p.

#include "algorithm.hpp"
#include "reduction.hpp"

namespace chorus::reduce_scatter_block_pairwise {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const double steps = problem.ranks - 1;
  const double bytes = steps * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = steps, .bytes = bytes, .reduced = bytes}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const int me = transport.rank();
  const int ranks = transport.size();
  const std::size_t bytes = arguments.call.bytes();
  const auto block = [&](int number) {
    return ConstBytes(arguments.in + static_cast<std::size_t>(number) * bytes, bytes);
  };
  const Scratch scratch = transport.scratch(2 * bytes);
  const Bytes incoming = scratch.bytes().first(bytes);
  // In place the result's place in `out` holds rank 0's block until that is sent.
  const bool in_place = arguments.in == arguments.out;
  std::byte* const sum = in_place ? scratch.data() + bytes : arguments.out;

  const std::byte* mine = block(me).data();
  for (int step = 1; step < ranks; ++step) {
    const int ahead = (me + step) % ranks;
    const int behind = (me + ranks - step) % ranks;
    co_await transport.sendrecv(block(ahead), ahead, incoming, behind);
    const std::byte* const both[] = {mine, incoming.data()};
    reduction.all(sum, both, bytes);
    mine = sum;
  }
  copy_unless_same(arguments.out, mine, bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "pairwise",
    .summary = "every rank sends every other one its block: no copies, many messages",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_scatter_block_pairwise
