// SPDX-License-Identifier: Apache-2.0
//
// Binomial reduction: each rank reduces what its children in a binomial tree send, and sends that on to its parent.
//
// With p = 6 and root 0 (for another root the ranks are counted from it):
//
//   round 1   1->0  3->2  5->4
//   round 2   2->0              0 has 0123
//   round 3   4->0              0 has 012345
//
// Best for short vectors: log2(p) rounds, rounded up, for any p. The root takes in and reduces the whole vector in each
// of them: long vectors are better cut into blocks (`reduce_scatter_gather`).

#include "algorithm.hpp"
#include "binomial_tree.hpp"
#include "reduction.hpp"

namespace chorus::reduce_binomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const int rounds = BinomialTree::depth(problem.ranks);
  const auto all = static_cast<double>(problem.call.bytes());
  return {.shared = {},
          .messages = {
              .messages = static_cast<double>(rounds), .bytes = problem.ranks > 1 ? all : 0, .reduced = rounds * all}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const BinomialTree tree(transport, arguments.call.root);
  const Reduction reduction(arguments.call);
  const std::size_t bytes = arguments.call.bytes();
  const Scratch scratch = transport.scratch(tree.children() > 0 ? 2 * bytes : 0);
  const Bytes incoming = scratch.bytes().first(tree.children() > 0 ? bytes : 0);
  std::byte* const sum = tree.is_root() ? arguments.out : scratch.data() + incoming.size();

  const std::byte* mine = arguments.in;
  for (int i = 0; i < tree.children(); ++i) {
    co_await transport.receive(incoming, tree.child(i));
    const std::byte* const both[] = {mine, incoming.data()};
    reduction.all(sum, both, bytes);
    mine = sum;
  }
  if (tree.is_root()) {
    copy_unless_same(arguments.out, mine, bytes);
  } else {
    const ConstBytes outgoing(mine, bytes);
    co_await transport.send(outgoing, tree.parent());
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "binomial",
    .summary = "reduces up a tree: fewest rounds, the whole vector in each",
    .source = "Johnsson and Ho, IEEE Trans. Comput. 38(9), 1989 (spanning binomial tree)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_binomial
