// SPDX-License-Identifier: Apache-2.0
//
// Single-copy gather: every rank shows where its block lies, and the root copies all from the memory of the others.
//
// Each byte is copied once, by the system, which has to look up every page: for long blocks. The root does all the
// work: for few ranks.

#include "single_copy.hpp"

namespace chorus::gather_shared {
extern const Algorithm algorithm;
}

namespace chorus::gather_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  Traffic traffic = single_copy_traffic(problem, problem.ranks - 1, 1);
  traffic.one_reads = true;
  traffic.arrivals = problem.ranks + 1;  // at the root, and of the root
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  using SingleCopySteps::SingleCopySteps;

  void keep() const {
    if (me() == root() && !in_place()) copy_unless_same(arguments_.out + offset(me()), arguments_.in, bytes());
  }
  [[nodiscard]] bool copies() const { return me() == root(); }
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    return !copies() || read_from_others(data_of);
  }
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, gather_shared::algorithm>(
    "the root copies all blocks from the memory of the others: long blocks of few ranks in a node", traffic);

}  // namespace chorus::gather_single_copy
