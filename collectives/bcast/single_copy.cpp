// SPDX-License-Identifier: Apache-2.0
//
// Single-copy bcast: the root shows where its data lies, and the others where it is to go; they read the first part
// from the root's memory, while the root writes the rest into theirs.
//
// Each byte is copied once, by the system, which has to look up every page: for long data. All read from one process,
// whose table of pages they share: for few ranks. Where ranks share cores the others read all of it.

#include "single_copy.hpp"

namespace chorus::bcast_shared {
extern const Algorithm algorithm;
}

namespace chorus::bcast_single_copy {
namespace {

// Where ranks share cores, those who read the same pages of one process take so many times as long as those who read
// from several.
constexpr double of_the_same_pages = 1.5;

Traffic traffic(const Problem& problem) {
  Traffic traffic = single_copy_traffic(problem, 1, 0);
  take_turns(traffic, turns_at_one(problem) * (links_of(problem).shares_cores() ? of_the_same_pages : 1));
  const double far = far_from_one(problem, traffic.read.bytes);
  if (both_ends_copy(links_of(problem), problem.ranks)) traffic = traffic_of_both_ends(problem, 0);
  traffic.far = far;
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  using SingleCopySteps::SingleCopySteps;

  [[nodiscard]] Shown shown() const {
    return {arguments_.out, arguments_.out, both_ends_copy() ? part_of_others(0) : bytes()};
  }
  [[nodiscard]] Awaited awaited() const { return awaited_where_root_gives(); }
  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    const Shown of_root = of(root());
    if (!is_root()) return memory_.read(root(), arguments_.out, of_root.in, of_root.part);
    const ConstBytes rest(arguments_.out + of_root.part, bytes() - of_root.part);
    return rest.empty() ||
           with_others([&](int peer) { return memory_.write(peer, of(peer).out + of_root.part, rest); });
  }
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, bcast_shared::algorithm>(
    "the others read the data from the memory of the root, which writes part of it: long data of few ranks in a node",
    traffic);

}  // namespace chorus::bcast_single_copy
