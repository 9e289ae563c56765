// SPDX-License-Identifier: Apache-2.0
//
// Reduce-scatter, then gather: every rank reduces one block, and the root collects the blocks up a binomial tree.
//
// With p = 3, root 0 (for another root the ranks are counted from it) and block b of rank r written rb; each rank keeps
// its own block first:
//
//            rank 0            rank 1            rank 2
//   start    00 01 02          11 12 10          22 20 21
//   round 1  00+10 01          11+21 12          22+02 20
//   round 2  block 0           block 1           block 2          all finished (circulant.hpp)
//   gather   0 1               -                 2
//            0 1 2             -                 -
//
// Best for long vectors: 2 log2(p) messages, rounded up, and less than twice the vector's bytes however many ranks
// there are; for short ones `binomial` takes half the rounds. Right for any p and any length (blocks may be empty).

#include "algorithm.hpp"
#include "binomial_tree.hpp"
#include "blocks.hpp"
#include "circulant.hpp"
#include "reduction.hpp"

#include <algorithm>

namespace chorus::reduce_reduce_scatter_gather {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

Traffic traffic(const Problem& problem) {
  const Blocks blocks(problem.call, problem.ranks);
  const CirculantRounds rounds(problem.ranks);
  // A rank sends all blocks but its own to reduce them, and but for the root those of its subtree, its own among them,
  // to be gathered: the busiest has the longest subtree.
  const std::size_t all = problem.call.bytes();
  std::size_t bytes = all - blocks.bytes(0);
  for (int place = 1; place < problem.ranks; place *= 2) {
    bytes = std::max(bytes, all + blocks.span_bytes(place + 1, std::min(2 * place, problem.ranks)));
  }
  return {.shared = {},
          .messages = {.messages = static_cast<double>(rounds.count() + BinomialTree::depth(problem.ranks)),
                       .bytes = static_cast<double>(bytes),
                       .reduced = static_cast<double>(rounds.reduced_bytes(blocks))}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const BinomialTree tree(transport, arguments.call.root);
  const Reduction reduction(arguments);
  const std::size_t bytes = arguments.call.bytes();
  const Blocks blocks(arguments.call, transport.size());
  const TurnedBlocks turned_blocks(blocks, transport.size(), tree.place());
  // The root's own block is the first, so that the root works where the result belongs.
  const Scratch scratch = transport.scratch(tree.is_root() ? 0 : bytes);
  const Bytes turned(tree.is_root() ? arguments.out : scratch.data(), bytes);

  turned_blocks.turn(turned.data(), arguments.in);
  co_await circulant_reduce_scatter(transport, turned_blocks, reduction, turned);
  for (int i = 0; i < tree.children(); ++i) {
    const int first = tree.child_place(i) - tree.place();
    const int last = tree.child_end(i) - tree.place();
    co_await transport.receive(turned_blocks.range(turned, first, last), tree.child(i));
  }
  if (!tree.is_root()) {
    co_await transport.send(turned_blocks.range(turned, 0, tree.end() - tree.place()), tree.parent());
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "reduce_scatter_gather",
    .summary = "every rank reduces one block and the root gathers them: few bytes",
    .source =
        "Rabenseifner, Int. Conf. on Computational Science (ICCS), 2004; the rounds: Traeff, arXiv:2410.14234, "
        "2024",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_reduce_scatter_gather
