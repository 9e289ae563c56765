// SPDX-License-Identifier: Apache-2.0
//
// Single-copy allgather: every rank shows where its block lies, and copies those of the others from their memory.
//
// Each byte is copied once, by the system, which has to look up every page: for long blocks. A rank begins with the
// rank behind it, so that not all read from one.

#include "single_copy.hpp"

namespace chorus::allgather_shared {
extern const Algorithm algorithm;
}

namespace chorus::allgather_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return single_copy_traffic(problem, others, others * bytes, bytes);
}

class Steps {
 public:
  Steps(Transport& transport, const Arguments& arguments) : memory_(*transport.shared()), arguments_(arguments) {}

  [[nodiscard]] const std::byte* shown() const {
    return arguments_.in == arguments_.out ? block(memory_.rank()) : arguments_.in;
  }
  void keep() const { copy_unless_same(block(memory_.rank()), shown(), arguments_.call.bytes()); }
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    bool all = true;
    for (int step = 1; step < memory_.size(); ++step) {
      const int peer = (memory_.rank() + step) % memory_.size();
      all &= memory_.read(peer, block(peer), data_of(peer), arguments_.call.bytes());
    }
    return all;
  }
  [[nodiscard]] Arguments again() const { return arguments_; }

 private:
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
    .summary = "every rank copies the blocks of the others from their memory: long blocks in a node",
    .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
    .applies = SingleCopy<Steps, allgather_shared::algorithm>::applies,
    .traffic = traffic,
    .run = SingleCopy<Steps, allgather_shared::algorithm>::run,
    .arrives = true,
};

}  // namespace chorus::allgather_single_copy
