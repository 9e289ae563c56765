// SPDX-License-Identifier: Apache-2.0
//
// Single-copy reduce_scatter_block: every rank shows where its data lies, copies its own block from the memory of all
// others, as much as a core's caches hold at a time, and reduces it, in the order of the ranks.
//
// A rank reads (p-1) n, and nothing goes through shared memory. In place the result is kept until all have read.

#include "single_copy.hpp"
#include "reduction.hpp"

#include <algorithm>

namespace chorus::reduce_scatter_block_shared {
extern const Algorithm algorithm;
}

namespace chorus::reduce_scatter_block_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  Traffic traffic = single_copy_traffic(problem, problem.ranks - 1, 0);
  traffic.read.messages *= std::max(1.0, bytes / static_cast<double>(reduced_at_once(problem.call, problem.ranks)));
  traffic.read.reduced = bytes * others;
  traffic.far = far_by_all(problem, bytes * others);
  take_turns(traffic, turns_at_all(problem));
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  Steps(Transport& transport, const Arguments& arguments)
      : SingleCopySteps(transport, arguments),
        longest_(std::min(reduced_at_once(arguments.call, memory_.size()), bytes())),
        copied_(transport.scratch(static_cast<std::size_t>(memory_.size() - 1) * longest_)),
        result_(transport.scratch(in_place() ? bytes() : 0)) {}

  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    const Reduction reduction(arguments_);
    std::byte* const out = in_place() ? result_.data() : arguments_.out;
    for (std::size_t done = 0; done < bytes(); done += longest_) {
      const std::size_t length = std::min(longest_, bytes() - done), place = offset(me()) + done;
      const auto inputs = inputs_of_all(
          memory_, arguments_.in + place, [&](int peer) { return of(peer).in + place; }, length, copied_.data());
      if (inputs.empty()) return false;
      reduction.all(out + done, inputs, length);
    }
    return true;
  }
  void end() const {
    if (in_place()) copy_unless_same(arguments_.out, result_.data(), bytes());
  }

 private:
  std::size_t longest_;
  Scratch copied_;
  Scratch result_;
};

constexpr Algorithm row() {
  Algorithm algorithm = single_copy<Steps, reduce_scatter_block_shared::algorithm>(
      "every rank reduces its block from the memory of all: long blocks in a node", traffic);
  algorithm.at_once = true;
  return algorithm;
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = row();

}  // namespace chorus::reduce_scatter_block_single_copy
