// SPDX-License-Identifier: Apache-2.0
//
// K-nomial broadcast: as the binomial one, but whoever has the data passes it to three others at a time.
//
// With p = 6 and root 0 (for another root the ranks are counted from it):
//
//   round 1   0->4
//   round 2   0->3 0->2 0->1   4->5
//
// Best for short data where messages take their time on the way and not to be sent: half the rounds of `binomial`, with
// at most three messages in each, so at most 3/2 as many bytes from the root. Right for any p.

#include "exchanges.hpp"
#include "knomial_tree.hpp"
#include "tree_traffic.hpp"

#include <array>
#include <span>

namespace chorus::bcast_knomial {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Task<> run(Transport& transport, Arguments arguments) {
  const KnomialTree tree(transport, arguments.call.root);
  const Bytes data(arguments.out, arguments.call.bytes());
  if (!tree.is_root()) co_await transport.receive(data, tree.parent());
  for (int left = tree.children(); left > 0;) {
    std::array<Envelope, KnomialTree::at_once> exchanges;
    const int of_level = (left - 1) % KnomialTree::at_once + 1;
    for (Envelope& exchange : std::span(exchanges).first(static_cast<std::size_t>(of_level))) {
      exchange.outgoing = data;
      exchange.destination = tree.child(--left);
    }
    co_await three_at_once(transport, exchanges);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "knomial",
    .summary = "every rank that has the data passes it to three others at a time: half the rounds of a binomial tree",
    .source = "Wilkins et al., CLUSTER 2023 (generalized collective algorithms)",
    .applies = applies,
    .traffic = traffic_down<KnomialTree>,
    .run = run,
};

}  // namespace chorus::bcast_knomial
