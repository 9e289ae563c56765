// SPDX-License-Identifier: Apache-2.0
//
// Recursive doubling: in each step two ranks swap all they have and both reduce it; the distance of the two doubles.
//
// With p = 4 and the vector of rank r written r:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0         1         2         3
//   step 1   01        01        23        23        0 with 1, 2 with 3
//   step 2   0123      0123      0123      0123      0 with 2, 1 with 3
//
// The two of a pair reduce in the order of their ranks, so that all ranks get the same bits. Best for short vectors:
// log2(p) steps, but every step carries the whole vector. Where p is no power of two (Fold), ranks 1, 3, ... first give
// their vectors to their left neighbours and get the result from them: two more messages.

#include "algorithm.hpp"
#include "fold.hpp"
#include "reduction.hpp"

#include <bit>

namespace chorus::allreduce_recursive_doubling {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const int core = Fold::core_of(problem.ranks);
  const int steps = std::countr_zero(static_cast<unsigned>(core));
  const int folds = core < problem.ranks ? 1 : 0;
  const auto all = static_cast<double>(problem.call.bytes());
  return {.shared = {},
          .messages = {.messages = static_cast<double>(steps + 2 * folds),
                       .bytes = (steps + folds) * all,
                       .reduced = (steps + folds) * all}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const Fold fold(transport.rank(), transport.size());
  const Bytes data(arguments.out, arguments.call.bytes());
  const Scratch scratch = transport.scratch(data.size());
  const Bytes incoming = scratch.bytes();

  copy_unless_same(arguments.out, arguments.in, data.size());
  co_await fold_in(transport, fold, reduction, data, incoming);
  for (int distance = 1; distance < fold.core() && !fold.sits_out(); distance *= 2) {
    const int peer = fold.rank_at(fold.place() ^ distance);
    co_await transport.sendrecv(data, peer, incoming, peer);
    if (peer < transport.rank()) {
      reduction.into_right(incoming, data);
    } else {
      reduction.into_left(data, incoming);
    }
  }
  co_await fold_out(transport, fold, data);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "recursive_doubling",
    .summary = "pairs swap whole vectors over doubling distances: fewest messages, most bytes",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allreduce_recursive_doubling
