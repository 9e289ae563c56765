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
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return single_copy_traffic(problem, others, others * bytes, 0);
}

class Steps {
 public:
  Steps(Transport& transport, const Arguments& arguments) : memory_(*transport.shared()), arguments_(arguments) {}

  [[nodiscard]] const std::byte* shown() const { return arguments_.in; }
  void keep() const {
    if (is_root() && arguments_.in != arguments_.out) {
      copy_unless_same(block(memory_.rank()), arguments_.in, arguments_.call.bytes());
    }
  }
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    bool all = true;
    for (int peer = 0; is_root() && peer < memory_.size(); ++peer) {
      if (peer != memory_.rank()) all &= memory_.read(peer, block(peer), data_of(peer), arguments_.call.bytes());
    }
    return all;
  }
  [[nodiscard]] Arguments again() const { return arguments_; }

 private:
  [[nodiscard]] bool is_root() const { return memory_.rank() == arguments_.call.root; }
  [[nodiscard]] std::byte* block(int rank) const {
    return arguments_.out + static_cast<std::size_t>(rank) * arguments_.call.bytes();
  }

  SharedGroup& memory_;
  const Arguments& arguments_;
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "single_copy",
    .summary = "the root copies all blocks from the memory of the others: long blocks of few ranks in a node",
    .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
    .applies = SingleCopy<Steps, gather_shared::algorithm>::applies,
    .traffic = traffic,
    .run = SingleCopy<Steps, gather_shared::algorithm>::run,
    .arrives = true,
};

}  // namespace chorus::gather_single_copy
