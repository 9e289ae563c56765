// SPDX-License-Identifier: Apache-2.0
//
// Binomial barrier: the ranks report to rank 0 up a binomial tree, which releases them down the same tree.
//
// With p = 6:
//
//   up     1->0 3->2 5->4     then 2->0     then 4->0: rank 0 knows that all have arrived
//   down   0->4               then 0->2     then 0->1 2->3 4->5
//
// Twice the rounds of `dissemination` but only 2(p-1) messages in all, against p log2(p): better where messages, not
// rounds, are dear, as with more ranks than cores. Right for any p.

#include "algorithm.hpp"
#include "binomial_tree.hpp"

namespace chorus::barrier_binomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  return {.shared = {}, .messages = {.messages = 2.0 * BinomialTree::depth(problem.ranks), .bytes = 0, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments /*arguments*/) {
  const BinomialTree tree(transport, 0);
  const ConstBytes nothing_out;
  const Bytes nothing_in;
  for (int i = 0; i < tree.children(); ++i) co_await transport.receive(nothing_in, tree.child(i));
  if (!tree.is_root()) {
    co_await transport.send(nothing_out, tree.parent());
    co_await transport.receive(nothing_in, tree.parent());
  }
  for (int i = tree.children() - 1; i >= 0; --i) co_await transport.send(nothing_out, tree.child(i));
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "binomial",
    .summary = "reports up a tree and is released down it: fewest messages in all",
    .source = "Mellor-Crummey and Scott, ACM Trans. Comput. Syst. 9(1), 1991 (tournament barrier with a wake-up tree)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::barrier_binomial
