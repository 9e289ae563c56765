// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "exchanges.hpp"
#include "reduction.hpp"
#include "tree_traffic.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace chorus::reduce_up_tree {

// Each rank reduces what its children in a tree send, and sends that on to its parent. A function that does not commute
// is joined up the tree of rank 0, whose children stand in the order of the ranks, and the result is sent on to the
// root.

/// The rank at the top of the tree.
inline int top_of(const Call& call) { return call.commutes() ? call.root : 0; }

/// What comes up is what goes down, and reduced; but each rank sends to its parent alone, who takes all in.
template <class Tree>
Traffic traffic(const Problem& problem) {
  Traffic traffic = traffic_down<Tree>(problem);
  traffic.inside.reduced = traffic.inside.bytes;
  traffic.messages.reduced = traffic.messages.bytes;
  if (traffic.messages.messages > 0) {
    const auto all = static_cast<double>(problem.call.bytes());
    const double side_by_side = problem.nodes == 1 ? traffic.together.bytes : 0;
    traffic.waited.bytes = traffic.messages.bytes - side_by_side - all;
    traffic.messages.bytes = all;
  }
  traffic.together.bytes = 0;
  if (top_of(problem.call) != problem.call.root) traffic.messages.messages += 1;
  return traffic;
}

template <class Tree>
Task<> run(Transport& transport, Arguments arguments) {
  const int root = arguments.call.root;
  const int top = top_of(arguments.call);
  const Tree tree(transport, top);
  const Reduction reduction(arguments);
  const std::size_t bytes = arguments.call.bytes();
  const auto at_once = static_cast<std::size_t>(std::min(tree.children(), Tree::at_once));
  const Scratch scratch = transport.scratch(at_once > 0 ? (at_once + 1) * bytes : 0);
  std::byte* const sum = tree.is_root() && top == root ? arguments.out : scratch.data() + at_once * bytes;

  const std::byte* mine = arguments.in;
  for (int i = 0; i < tree.children();) {
    std::array<Envelope, 3> exchanges;
    std::array<const std::byte*, 1 + exchanges.size()> vectors = {mine};
    std::size_t number = 0;
    for (; number < at_once && i < tree.children(); ++number, ++i) {
      exchanges[number].incoming = scratch.bytes().subspan(number * bytes, bytes);
      exchanges[number].source = tree.child(i);
      vectors[number + 1] = exchanges[number].incoming.data();
    }
    co_await three_at_once(transport, exchanges);
    reduction.all(sum, std::span(vectors).first(number + 1), bytes);
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

}  // namespace chorus::reduce_up_tree
