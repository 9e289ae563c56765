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
  Traffic traffic = single_copy_traffic(problem, problem.ranks - 1, 1);
  take_turns(traffic, turns_at_all(problem));
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  Steps(Transport& transport, const Arguments& arguments)
      : SingleCopySteps(transport, arguments), copy_(transport.scratch(in_place() ? all() : 0)) {
    if (in_place()) copy_unless_same(copy_.data(), arguments.in, all());
  }

  [[nodiscard]] Shown shown() const { return {.in = in_place() ? copy_.data() : arguments_.in}; }
  void keep() const { copy_unless_same(arguments_.out + offset(me()), arguments_.in + offset(me()), bytes()); }
  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    return read_from_others([&](int peer) { return of(peer).in + offset(me()); });
  }
  [[nodiscard]] Arguments again() const {
    Arguments arguments = arguments_;
    arguments.in = shown().in;
    return arguments;
  }

 private:
  [[nodiscard]] std::size_t all() const { return offset(memory_.size()); }

  Scratch copy_;
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, alltoall_shared::algorithm>(
    "every rank copies the blocks that are for it from the memory of the others: long blocks in a node", traffic);

}  // namespace chorus::alltoall_single_copy
