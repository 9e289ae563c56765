// SPDX-License-Identifier: Apache-2.0
//
// Binomial broadcast: every rank that has the data passes it on, so that each round doubles those that have it.
//
// With p = 6 and root 0 (for another root the ranks are counted from it):
//
//   round 1   0->4
//   round 2   0->2 4->5     the root's largest subtree is served first, so that it can pass on early
//   round 3   0->1 2->3
//
// Best for short data: log2(p) rounds, rounded up, for any p. The root sends all data in each of them: long data is
// better cut into blocks (`scatter_allgather`).

#include "binomial_tree.hpp"
#include "tree_traffic.hpp"

namespace chorus::bcast_binomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Task<> run(Transport& transport, Arguments arguments) {
  const BinomialTree tree(transport, arguments.call.root);
  const Bytes data(arguments.out, arguments.call.bytes());
  if (!tree.is_root()) co_await transport.receive(data, tree.parent());
  for (int i = tree.children() - 1; i >= 0; --i) co_await transport.send(data, tree.child(i));
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "binomial",
    .summary = "every rank that has the data passes it on: fewest rounds",
    .source = "Johnsson and Ho, IEEE Trans. Comput. 38(9), 1989 (spanning binomial tree)",
    .applies = applies,
    .traffic = traffic_down<BinomialTree>,
    .run = run,
};

}  // namespace chorus::bcast_binomial
