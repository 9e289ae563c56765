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
// A function that does not commute is joined up the tree of rank 0, in the order of the ranks, and the result is sent
// on to the root.
//
// Best for short vectors: log2(p) rounds, rounded up, for any p. The root takes in and reduces the whole vector in each
// of them: long vectors are better cut into blocks (`reduce_scatter_gather`).

#include "algorithm.hpp"
#include "binomial_tree.hpp"
#include "reduction.hpp"

namespace chorus::reduce_binomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

/// The rank at the top of the tree.
int top_of(const Call& call) { return call.commutes() ? call.root : 0; }

Traffic traffic(const Problem& problem) {
  const int rounds = BinomialTree::depth(problem.ranks);
  const int forwards = top_of(problem.call) == problem.call.root ? 0 : 1;
  const auto all = static_cast<double>(problem.call.bytes());
  return {.shared = {},
          .messages = {.messages = static_cast<double>(rounds + forwards),
                       .bytes = problem.ranks > 1 ? all : 0,
                       .reduced = rounds * all}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int root = arguments.call.root;
  const int top = top_of(arguments.call);
  const BinomialTree tree(transport, top);
  const Reduction reduction(arguments);
  const std::size_t bytes = arguments.call.bytes();
  const Scratch scratch = transport.scratch(tree.children() > 0 ? 2 * bytes : 0);
  const Bytes incoming = scratch.bytes().first(tree.children() > 0 ? bytes : 0);
  std::byte* const sum = tree.is_root() && top == root ? arguments.out : scratch.data() + incoming.size();

  const std::byte* mine = arguments.in;
  for (int i = 0; i < tree.children(); ++i) {
    co_await transport.receive(incoming, tree.child(i));
    const std::byte* const both[] = {mine, incoming.data()};
    reduction.all(sum, both, bytes);
    mine = sum;
  }
  if (!tree.is_root()) {
    const ConstBytes outgoing(mine, bytes);
    co_await transport.send(outgoing, tree.parent());
  }
  if (top == root) {
    if (tree.is_root()) copy_unless_same(arguments.out, mine, bytes);
  } else if (transport.rank() == top) {
    co_await transport.send({mine, bytes}, root);
  } else if (transport.rank() == root) {
    co_await transport.receive({arguments.out, bytes}, top);
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
