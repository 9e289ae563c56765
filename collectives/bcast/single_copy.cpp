// SPDX-License-Identifier: Apache-2.0
//
// Single-copy bcast: the root shows where its data lies, and every rank copies it from the root's memory.
//
// Each byte is copied once, by the system, which has to look up every page: for long data. All read from one process,
// whose table of pages they share: for few ranks.

#include "single_copy.hpp"

namespace chorus::bcast_shared {
extern const Algorithm algorithm;
}

namespace chorus::bcast_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  Traffic traffic = single_copy_traffic(problem, 1, 0);
  take_turns(traffic, turns_at_one(problem));
  traffic.far = far_from_one(problem, traffic.read.bytes);
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  using SingleCopySteps::SingleCopySteps;

  [[nodiscard]] const std::byte* shown() const { return arguments_.out; }
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    return me() == root() || read(root(), arguments_.out, data_of(root()));
  }
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, bcast_shared::algorithm>(
    "every rank copies the data from the memory of the root: long data of few ranks in a node", traffic);

}  // namespace chorus::bcast_single_copy
