// SPDX-License-Identifier: Apache-2.0
//
// Binomial gather: each rank collects the blocks of its subtree of a binomial tree, and sends them on to its parent in
// one message.
//
// With p = 6 and root 0 (for another root the ranks are counted from it), the blocks that are sent:
//
//   round 1   1->0: 1     3->2: 3    5->4: 5
//   round 2   2->0: 23
//   round 3   4->0: 45
//
// Best for short blocks: log2(p) rounds, rounded up, for any p. Ranks inside the tree pass on what is not theirs, and a
// root other than rank 0 copies all blocks once more to put them in order: for long blocks `linear` spares that.

#include "algorithm.hpp"
#include "binomial_tree.hpp"
#include "circulant.hpp"

namespace chorus::gather_binomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const auto bytes = static_cast<double>(problem.call.bytes());
  const int sent = BinomialTree::largest_subtree(problem.ranks);
  return {.shared = {},
          .messages = {.messages = static_cast<double>(BinomialTree::depth(problem.ranks)),
                       .bytes = sent * bytes,
                       .reduced = 0},
          .waited = {.messages = 0, .bytes = (problem.ranks - 1 - sent) * bytes, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int root = arguments.call.root;
  const BinomialTree tree(transport, root);
  const std::size_t bytes = arguments.call.bytes();
  const auto ranks = static_cast<std::size_t>(transport.size());
  const auto collected = static_cast<std::size_t>(tree.end() - tree.place());
  const bool in_order = tree.is_root() && root == 0;  // counted from the root or from rank 0 is the same
  const bool in_place = tree.is_root() && arguments.in == arguments.out;
  const std::byte* const own = in_place ? arguments.in + static_cast<std::size_t>(root) * bytes : arguments.in;
  const Scratch scratch = transport.scratch(in_order || collected == 1 ? 0 : collected * bytes);
  const Bytes blocks(in_order ? arguments.out : scratch.data(), collected * bytes);

  if (collected == 1 && !tree.is_root()) {
    const ConstBytes outgoing(own, bytes);
    co_await transport.send(outgoing, tree.parent());
    co_return;
  }
  copy_unless_same(blocks.data(), own, bytes);
  for (int i = 0; i < tree.children(); ++i) {
    const auto first = static_cast<std::size_t>(tree.child_place(i) - tree.place());
    const auto last = static_cast<std::size_t>(tree.child_end(i) - tree.place());
    co_await transport.receive(blocks.subspan(first * bytes, (last - first) * bytes), tree.child(i));
  }
  if (!tree.is_root()) {
    co_await transport.send(blocks, tree.parent());
  } else if (!in_order) {
    const TurnedBlocks turned(Blocks(ranks * bytes, 1, transport.size()), transport.size(), root);
    turned.turn_back(arguments.out, blocks.data());
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "binomial",
    .summary = "blocks are collected up a tree, more in each message: fewest rounds",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::gather_binomial
