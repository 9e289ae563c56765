// SPDX-License-Identifier: Apache-2.0
//
// Single-copy gather: the root shows where the blocks are to go, and the others where theirs lie; they write the first
// part there, while the root reads the rest.
//
// Each byte is copied once, by the system, which has to look up every page: for long blocks. Few can write into one
// process's memory at a time: for few ranks. Where ranks share cores the root reads all.

#include "single_copy.hpp"

namespace chorus::gather_shared {
extern const Algorithm algorithm;
}

namespace chorus::gather_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  const bool both_ends = both_ends_copy(links_of(problem), problem.ranks);
  Traffic traffic = both_ends ? traffic_of_both_ends(problem, 1) : single_copy_traffic(problem, problem.ranks - 1, 1);
  traffic.one_reads = !both_ends;
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  using SingleCopySteps::SingleCopySteps;

  void keep() const {
    if (is_root() && !in_place()) copy_unless_same(arguments_.out + offset(me()), arguments_.in, bytes());
  }
  [[nodiscard]] Shown shown() const {
    if (!is_root()) return {.in = arguments_.in};
    return {.out = arguments_.out, .part = both_ends_copy() ? part_of_others(in_place() ? 0 : 1) : 0};
  }
  [[nodiscard]] Awaited awaited() const { return is_root() ? Awaited::everybody : Awaited::giving_root; }
  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    const Shown of_root = of(root());
    if (!is_root()) {
      const ConstBytes part(arguments_.in, of_root.part);
      return part.empty() || memory_.write(root(), of_root.out + offset(me()), part);
    }
    const std::size_t rest = bytes() - of_root.part;
    return rest == 0 || with_others([&](int peer) {
             return memory_.read(peer, arguments_.out + offset(peer) + of_root.part, of(peer).in + of_root.part, rest);
           });
  }
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, gather_shared::algorithm>(
    "the root reads the blocks from the memory of the others, which write part of them: long blocks of few ranks in a "
    "node",
    traffic);

}  // namespace chorus::gather_single_copy
