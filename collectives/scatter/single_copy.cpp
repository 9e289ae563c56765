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
  const double bytes = static_cast<double>(problem.call.bytes());
  return single_copy_traffic(problem, 1, bytes, 0);
}

class Steps {
 public:
  Steps(Transport& transport, const Arguments& arguments) : memory_(*transport.shared()), arguments_(arguments) {}

  [[nodiscard]] const std::byte* shown() const { return arguments_.in; }
  void keep() const {
    if (memory_.rank() != root() || arguments_.in == arguments_.out) return;
    copy_unless_same(arguments_.out, arguments_.in + own(), arguments_.call.bytes());
  }
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    if (memory_.rank() == root()) return true;
    return memory_.read(root(), arguments_.out, data_of(root()) + own(), arguments_.call.bytes());
  }
  [[nodiscard]] Arguments again() const { return arguments_; }

 private:
  [[nodiscard]] int root() const { return arguments_.call.root; }
  [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(memory_.rank()) * arguments_.call.bytes(); }

  SharedGroup& memory_;
  const Arguments& arguments_;
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "single_copy",
    .summary = "every rank copies its block from the memory of the root: long blocks in a node",
    .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
    .applies = SingleCopy<Steps, scatter_shared::algorithm>::applies,
    .traffic = traffic,
    .run = SingleCopy<Steps, scatter_shared::algorithm>::run,
    .arrives = true,
};

}  // namespace chorus::scatter_single_copy
