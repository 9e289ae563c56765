// SPDX-License-Identifier: Apache-2.0
//
// Bine broadcast: as the binomial one, but whoever has the data passes it ahead and behind in turn, over shorter ways.
//
// With p = 8 and root 0 (for another root the ranks are counted from it):
//
//   round 1   0->3
//   round 2   0->7 3->4
//   round 3   0->1 7->6 3->2 4->5
//
// For short data on tori and where fewer links lead out of a group of ranks than into it, if ranks are placed in the
// order of the network: ways are two thirds of those of `binomial` in the long run. The model knows of no distance but
// that inside a node, where it counts a step less: it is taken where it is named or was measured. Where p is no power
// of two (Fold) the ranks beyond get the data from their left neighbours in a last round.

#include "bine_tree.hpp"
#include "tree_traffic.hpp"

namespace chorus::bcast_bine {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Task<> run(Transport& transport, Arguments arguments) {
  const BineTree tree(transport, arguments.call.root);
  const Bytes data(arguments.out, arguments.call.bytes());
  if (!tree.is_root()) co_await transport.receive(data, tree.parent());
  for (int i = tree.children() - 1; i >= 0; --i) co_await transport.send(data, tree.child(i));
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "bine",
    .summary = "every rank that has the data passes it ahead and behind in turn: fewest rounds over short distances",
    .source = "De Sensi et al., SC 2025 (Bine trees); arXiv:2508.17311",
    .applies = applies,
    .traffic = traffic_down<BineTree>,
    .run = run,
};

}  // namespace chorus::bcast_bine
