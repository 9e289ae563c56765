// SPDX-License-Identifier: Apache-2.0
//
// Single-copy allgather: every rank shows where its block lies, and copies those of the others from their memory.
//
// Each byte is copied once, by the system, which has to look up every page: for long blocks. A rank begins with the
// next rank, so that not all read from one.

#include "single_copy.hpp"

namespace chorus::allgather_shared {
extern const Algorithm algorithm;
}

namespace chorus::allgather_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  Traffic traffic = single_copy_traffic(problem, problem.ranks - 1, 1);
  take_turns(traffic, turns_at_all(problem));
  traffic.far = far_by_all(problem, traffic.read.bytes);
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  using SingleCopySteps::SingleCopySteps;

  [[nodiscard]] Shown shown() const { return {.in = in_place() ? own() : arguments_.in}; }
  void keep() const { copy_unless_same(own(), shown().in, bytes()); }
  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    return read_from_others([&](int peer) { return of(peer).in; });
  }

 private:
  [[nodiscard]] std::byte* own() const { return arguments_.out + offset(me()); }
};

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, allgather_shared::algorithm>(
    "every rank copies the blocks of the others from their memory: long blocks in a node", traffic);

}  // namespace chorus::allgather_single_copy
