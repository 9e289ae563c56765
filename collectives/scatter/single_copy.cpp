// SPDX-License-Identifier: Apache-2.0
//
// Single-copy scatter: the root shows where its blocks lie, and the others where they are to go; each of them reads the
// first part of its own from the root's memory, while the root writes the rest of all.
//
// Each byte is copied once, by the system, which has to look up every page: for long blocks. All read from one process,
// whose table of pages they share. Where ranks share cores the others read all of it.

#include "single_copy.hpp"

namespace chorus::scatter_shared {
extern const Algorithm algorithm;
}

namespace chorus::scatter_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  Traffic traffic = single_copy_traffic(problem, 1, 0);
  take_turns(traffic, turns_at_one(problem));
  if (both_ends_copy(links_of(problem), problem.ranks)) traffic = traffic_of_both_ends(problem, 1);
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  using SingleCopySteps::SingleCopySteps;

  void keep() const {
    if (is_root() && !in_place()) copy_unless_same(arguments_.out, arguments_.in + offset(me()), bytes());
  }
  [[nodiscard]] Shown shown() const {
    if (!is_root()) return {.out = arguments_.out};
    return {.in = arguments_.in, .part = both_ends_copy() ? part_of_others(in_place() ? 0 : 1) : bytes()};
  }
  [[nodiscard]] Awaited awaited() const { return awaited_where_root_gives(); }
  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    const Shown of_root = of(root());
    if (!is_root()) return memory_.read(root(), arguments_.out, of_root.in + offset(me()), of_root.part);
    const std::size_t rest = bytes() - of_root.part;
    return rest == 0 || with_others([&](int peer) {
             return memory_.write(peer, of(peer).out + of_root.part,
                                  {arguments_.in + offset(peer) + of_root.part, rest});
           });
  }
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, scatter_shared::algorithm>(
    "every rank reads its block from the memory of the root, which writes part of it: long blocks in a node", traffic);

}  // namespace chorus::scatter_single_copy
