// SPDX-License-Identifier: Apache-2.0
//
// Binomial scatter: each rank gets the blocks of its subtree of a binomial tree in one message, and hands the parts of
// its children on.
//
// With p = 6 and root 0 (for another root the ranks are counted from it), the blocks that are sent:
//
//   round 1   0->4: 45          the root's largest subtree is served first, so that it can pass on early
//   round 2   0->2: 23   4->5: 5
//   round 3   0->1: 1    2->3: 3
//
// Best for short blocks: log2(p) rounds, rounded up, for any p. Ranks inside the tree pass on what is not theirs, and a
// root other than rank 0 copies all blocks once more to begin with its own: for long blocks `linear` spares that.

#include "algorithm.hpp"
#include "binomial_tree.hpp"
#include "circulant.hpp"

namespace chorus::scatter_binomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  return {.shared = {},
          .messages = {.messages = static_cast<double>(BinomialTree::depth(problem.ranks)),
                       .bytes = (problem.ranks - 1) * static_cast<double>(problem.call.bytes()),
                       .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int root = arguments.call.root;
  const BinomialTree tree(transport, root);
  const std::size_t bytes = arguments.call.bytes();
  const auto ranks = static_cast<std::size_t>(transport.size());
  const auto held = static_cast<std::size_t>(tree.end() - tree.place());
  if (held == 1 && !tree.is_root()) {
    const Bytes incoming(arguments.out, bytes);
    co_await transport.receive(incoming, tree.parent());
    co_return;
  }
  const bool in_order = tree.is_root() && root == 0;  // counted from the root or from rank 0 is the same
  const Scratch scratch = transport.scratch(in_order ? 0 : held * bytes);
  if (!tree.is_root()) {
    co_await transport.receive(scratch.bytes(), tree.parent());
  } else if (!in_order) {
    const TurnedBlocks turned(Blocks(ranks * bytes, 1, transport.size()), transport.size(), root);
    turned.turn(scratch.data(), arguments.in);
  }
  const ConstBytes blocks(in_order ? arguments.in : scratch.data(), held * bytes);
  for (int i = tree.children() - 1; i >= 0; --i) {
    const auto first = static_cast<std::size_t>(tree.child_place(i) - tree.place());
    const auto last = static_cast<std::size_t>(tree.child_end(i) - tree.place());
    co_await transport.send(blocks.subspan(first * bytes, (last - first) * bytes), tree.child(i));
  }
  const bool in_place = tree.is_root() && arguments.in == arguments.out;
  if (!in_place) copy_unless_same(arguments.out, blocks.data(), bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "binomial",
    .summary = "blocks are dealt out down a tree, fewer in each message: fewest rounds",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::scatter_binomial
