// SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling allgather: in each step two ranks swap all blocks they have; the distance of the two doubles.
//
// With p = 4, the blocks that each rank has:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0         1         2         3
//   step 1   01        01        23        23        0 with 1, 2 with 3
//   step 2   0123      0123      0123      0123      0 with 2, 1 with 3
//
// Best of all where p is a power of two: log2(p) steps, no byte more than needed, straight from and to its place in
// `out`; most bytes go to the farthest rank, though, unlike in `ring`. Other p: `bruck`.

#include "algorithm.hpp"
#include "halving.hpp"
#include "reduction.hpp"

#include <bit>

namespace chorus::allgather_recursive_doubling {
namespace {

bool applies(const Problem& problem) { return std::has_single_bit(static_cast<unsigned>(problem.ranks)); }

Traffic traffic(const Problem& problem) { return traffic_of_pairs<Doubling>(problem, Longest::to_the_farthest); }

Task<> run(Transport& transport, Arguments arguments) {
  const int me = transport.rank();
  const std::size_t bytes = arguments.call.bytes();
  const auto range = [&](int first, int count) {
    return Bytes(arguments.out + static_cast<std::size_t>(first) * bytes, static_cast<std::size_t>(count) * bytes);
  };

  if (arguments.in != arguments.out) copy_unless_same(range(me, 1).data(), arguments.in, bytes);
  for (int distance = 1; distance < transport.size(); distance *= 2) {
    const int peer = me ^ distance;
    const int mine = me & ~(distance - 1);
    co_await transport.sendrecv(range(mine, distance), peer, range(mine ^ distance, distance), peer);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "recursive_doubling",
    .summary = "pairs swap all they have over doubling distances: few messages; for a power of two ranks",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allgather_recursive_doubling
