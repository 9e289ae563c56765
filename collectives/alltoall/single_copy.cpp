// SPDX-License-Identifier: Apache-2.0
//
// Single-copy alltoall: every rank shows where its blocks lie, and copies those that are for it from the memory of the
// others.
//
// Each byte is copied once, by the system, which has to look up every page: for long blocks. A rank begins with the
// rank behind it, so that not all read from one. In place, what the others read is a copy.

#include "single_copy.hpp"

namespace chorus::alltoall_shared {
extern const Algorithm algorithm;
}

namespace chorus::alltoall_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return single_copy_traffic(problem, others, others * bytes, bytes);
}

class Steps {
 public:
  Steps(Transport& transport, const Arguments& arguments)
      : memory_(*transport.shared()),
        arguments_(arguments),
        bytes_(arguments.call.bytes()),
        copy_(transport.scratch(arguments.in == arguments.out ? all() : 0)) {
    if (arguments.in == arguments.out) copy_unless_same(copy_.data(), arguments.in, all());
  }

  [[nodiscard]] const std::byte* shown() const {
    return arguments_.in == arguments_.out ? copy_.data() : arguments_.in;
  }
  void keep() const {
    const std::size_t own = offset(memory_.rank());
    copy_unless_same(arguments_.out + own, arguments_.in + own, bytes_);
  }
  template <class DataOf>
  [[nodiscard]] bool copy(DataOf data_of) const {
    bool all = true;
    for (int step = 1; step < memory_.size(); ++step) {
      const int peer = (memory_.rank() + step) % memory_.size();
      all &= memory_.read(peer, arguments_.out + offset(peer), data_of(peer) + offset(memory_.rank()), bytes_);
    }
    return all;
  }
  [[nodiscard]] Arguments again() const {
    Arguments arguments = arguments_;
    arguments.in = shown();
    return arguments;
  }

 private:
  [[nodiscard]] std::size_t offset(int rank) const { return static_cast<std::size_t>(rank) * bytes_; }
  [[nodiscard]] std::size_t all() const { return offset(memory_.size()); }

  SharedGroup& memory_;
  const Arguments& arguments_;
  std::size_t bytes_;
  Scratch copy_;
};

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "single_copy",
    .summary = "every rank copies the blocks that are for it from the memory of the others: long blocks in a node",
    .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
    .applies = SingleCopy<Steps, alltoall_shared::algorithm>::applies,
    .traffic = traffic,
    .run = SingleCopy<Steps, alltoall_shared::algorithm>::run,
    .arrives = true,
};

}  // namespace chorus::alltoall_single_copy
