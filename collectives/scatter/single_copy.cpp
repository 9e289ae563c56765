// SPDX-License-Identifier: Apache-2.0
//
// Single-copy scatter: the root shows where its blocks lie, and every rank copies its own from the root's memory.
//
// Each byte is copied once, by the system, which has to look up every page: for long blocks. All read from one process,
// whose table of pages they share.

#include "single_copy.hpp"

namespace chorus::scatter_shared {
extern const Algorithm algorithm;
}

namespace chorus::scatter_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  Traffic traffic = single_copy_traffic(problem, 1, 0);
  take_turns(traffic, turns_at_one(problem));
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  using SingleCopySteps::SingleCopySteps;

  void keep() const {
    if (me() == root() && !in_place()) copy_unless_same(arguments_.out, arguments_.in + offset(me()), bytes());
  }
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    return me() == root() || read(root(), arguments_.out, data_of(root()) + offset(me()));
  }
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, scatter_shared::algorithm>(
    "every rank copies its block from the memory of the root: long blocks in a node", traffic);

}  // namespace chorus::scatter_single_copy
