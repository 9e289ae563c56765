// SPDX-License-Identifier: Apache-2.0
//
// Scatter-allgather broadcast: the root deals out p blocks down a binomial tree, then they go round a ring.
//
// With p = 4, root 0 and the data cut into the blocks 0..3:
//
//            rank 0    rank 1    rank 2    rank 3
//   start    0123      -         -         -
//   scatter  0123      -         23        -         each rank gets the blocks of its subtree
//            0123      1         23        3
//   ring     in p-1 steps each rank passes on to its right neighbour the block that it got last.
//
// Best for long data: a rank sends less than twice the data however many ranks there are. Its log2(p) + p-1 messages
// make it slow for short data. Right for any p and any length (blocks may be empty); for another root the ranks are
// counted from it.

#include "algorithm.hpp"
#include "binomial_tree.hpp"
#include "blocks.hpp"

namespace chorus::bcast_scatter_allgather {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const Blocks blocks(problem.call, problem.ranks);
  // The root is the busiest: it scatters all but its own block, and spares block 1 in the ring.
  const auto all = static_cast<double>(problem.call.bytes());
  const auto spared = static_cast<double>(blocks.bytes(0)) + static_cast<double>(blocks.bytes(1));
  return {.shared = {},
          .messages = {.messages = static_cast<double>(BinomialTree::depth(problem.ranks) + problem.ranks - 1),
                       .bytes = 2 * all - spared,
                       .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const BinomialTree tree(transport, arguments.call.root);
  const Blocks blocks(arguments.call, transport.size());
  const auto range = [&](int first, int last) {
    return Bytes(arguments.out + blocks.offset(first), blocks.span_bytes(first, last));
  };
  if (!tree.is_root()) co_await transport.receive(range(tree.place(), tree.end()), tree.parent());
  for (int i = tree.children() - 1; i >= 0; --i) {
    co_await transport.send(range(tree.child_place(i), tree.child_end(i)), tree.child(i));
  }

  const auto block = [&](int number) { return Bytes(arguments.out + blocks.offset(number), blocks.bytes(number)); };
  const int next = (transport.rank() + 1) % transport.size();
  const int previous = (transport.rank() + transport.size() - 1) % transport.size();
  for (int step = 0; step < transport.size() - 1; ++step) {
    co_await transport.sendrecv(block(tree.place() - step), next, block(tree.place() - step - 1), previous);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "scatter_allgather",
    .summary = "deals out blocks down a tree, then passes them round a ring: few bytes, many messages",
    .source = "Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, Scalable High Performance Computing Conf., 1994",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::bcast_scatter_allgather
