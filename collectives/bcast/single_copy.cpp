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
  return single_copy_traffic(problem, 1, static_cast<double>(problem.call.bytes()), 0);
}

class Steps {
 public:
  Steps(Transport& transport, const Arguments& arguments) : memory_(*transport.shared()), arguments_(arguments) {}

  [[nodiscard]] const std::byte* shown() const { return arguments_.out; }
  void keep() const {}
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    const int root = arguments_.call.root;
    return memory_.rank() == root || memory_.read(root, arguments_.out, data_of(root), arguments_.call.bytes());
  }
  [[nodiscard]] Arguments again() const { return arguments_; }

 private:
  SharedGroup& memory_;
  const Arguments& arguments_;
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "single_copy",
    .summary = "every rank copies the data from the memory of the root: long data of few ranks in a node",
    .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
    .applies = SingleCopy<Steps, bcast_shared::algorithm>::applies,
    .traffic = traffic,
    .run = SingleCopy<Steps, bcast_shared::algorithm>::run,
    .arrives = true,
};

}  // namespace chorus::bcast_single_copy
