// SPDX-License-Identifier: Apache-2.0
//
// Recursive halving: in each step two ranks share out the blocks they both hold; the distance of the two halves.
//
// Each sends the other the half in which the other's own block lies, and reduces the half it keeps. With p = 4:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0123      0123      0123      0123
//   step 1   01        01        23        23        0 with 2, 1 with 3
//   step 2   0         1         2         3         0 with 1, 2 with 3
//
// Best where p is a power of two: log2(p) messages and no byte more than needed; the first step sends straight from
// `in`. The longest message goes to the farthest rank, though. Other p: `circulant`.

#include "algorithm.hpp"
#include "halving.hpp"
#include "reduction.hpp"

#include <bit>

namespace chorus::reduce_scatter_block_recursive_halving {
namespace {

bool applies(const Problem& problem) {
  return std::has_single_bit(static_cast<unsigned>(problem.ranks)) && problem.call.commutes();
}

Traffic traffic(const Problem& problem) { return traffic_of_halving<Doubling>(problem, Longest::to_the_farthest); }

Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const int me = transport.rank();
  const std::size_t bytes = arguments.call.bytes();
  const std::size_t half = static_cast<std::size_t>(transport.size()) / 2 * bytes;
  const Scratch scratch = transport.scratch(2 * half);
  std::byte* const sums = scratch.data();
  const Bytes incoming = scratch.bytes().subspan(half);

  const std::byte* mine = arguments.in;  // the blocks that this rank still holds, reduced so far
  for (int distance = transport.size() / 2; distance > 0; distance /= 2) {
    const int peer = me ^ distance;
    const std::size_t length = static_cast<std::size_t>(distance) * bytes;
    const bool keeps_lower = (me & distance) == 0;
    const ConstBytes given(keeps_lower ? mine + length : mine, length);
    co_await transport.sendrecv(given, peer, incoming.first(length), peer);
    const std::byte* const both[] = {keeps_lower ? mine : mine + length, incoming.data()};
    reduction.all(sums, both, length);
    mine = sums;
  }
  copy_unless_same(arguments.out, mine, bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "recursive_halving",
    .summary = "pairs share out what they hold over halving distances: few messages; for a power of two ranks",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_scatter_block_recursive_halving
