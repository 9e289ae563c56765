// SPDX-License-Identifier: Apache-2.0
//
// Single-copy scan and exscan of two ranks: both show where their data lies. For exscan the second copies the first
// part of what the first has into its result, and the first writes the rest there. For scan the second copies it all
// and joins its own to it: what another core has just written takes longer to join than to copy.
//
// Where caches do not hold the data, a scan whose ranks both copy a segment at a time takes less. Of more ranks each
// would read those of all before it, and all would wait for the last one: passing on the sum so far takes less.

#include "single_copy.hpp"
#include "base/machine.hpp"
#include "prefix.hpp"
#include "reduction.hpp"

#include <algorithm>

namespace chorus::scan_shared {
extern const Algorithm algorithm;
}

namespace chorus::scan_single_copy {
namespace {

Traffic traffic(const Problem& problem) {
  if (!has_own(problem.call) && both_ends_copy(links_of(problem), problem.ranks)) {
    return traffic_of_both_ends(problem, 0);
  }
  Traffic traffic = single_copy_traffic(problem, 1, 0);
  if (has_own(problem.call)) traffic.read.reduced = static_cast<double>(problem.call.bytes());
  traffic.one_reads = true;
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  Steps(Transport& transport, const Arguments& arguments)
      : SingleCopySteps(transport, arguments), copy_(transport.scratch(overwrites_own() ? bytes() : 0)) {
    if (overwrites_own()) copy_unless_same(copy_.data(), arguments.in, bytes());
  }

  [[nodiscard]] Shown shown() const {
    return {arguments_.in, arguments_.out, both_ends() ? part_of_others(0) : bytes()};
  }
  void keep() const {
    if (is_first() && has_own(arguments_.call)) copy_unless_same(arguments_.out, arguments_.in, bytes());
  }
  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    const Shown first = of(0);
    if (is_first()) {
      const ConstBytes rest(arguments_.in + first.part, bytes() - first.part);
      return rest.empty() || memory_.write(1, of(1).out + first.part, rest);
    }
    if (has_own(arguments_.call)) return copy_and_join(first.in);
    return memory_.read(0, arguments_.out, first.in, first.part);
  }
  [[nodiscard]] Arguments again() const {
    Arguments arguments = arguments_;
    arguments.in = own();
    return arguments;
  }

 private:
  [[nodiscard]] bool is_first() const { return me() == 0; }
  [[nodiscard]] bool both_ends() const { return !has_own(arguments_.call) && both_ends_copy(); }
  [[nodiscard]] bool overwrites_own() const { return in_place() && !is_first(); }
  [[nodiscard]] const std::byte* own() const { return overwrites_own() ? copy_.data() : arguments_.in; }

  /// In pieces, each of which is joined while a cache holds it.
  [[nodiscard]] bool copy_and_join(const std::byte* there) const {
    const Reduction reduction(arguments_);
    const std::size_t longest = arguments_.call.whole_bytes(machine::longest_segment);
    bool all = true;
    for (std::size_t done = 0; done < bytes(); done += longest) {
      const Bytes out(arguments_.out + done, std::min(longest, bytes() - done));
      all &= memory_.read(0, out.data(), there + done, out.size());
      reduction.into_left(out, {own() + done, out.size()});
    }
    return all;
  }

  Scratch copy_;
};

bool applies(const Problem& problem) {
  const bool held_by_caches = problem.call.bytes() < machine::beyond_caches;
  return problem.ranks == 2 && (!has_own(problem.call) || held_by_caches) &&
         SingleCopy<Steps, scan_shared::algorithm>::applies(problem);
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, scan_shared::algorithm>(
    "the second of two ranks copies from the memory of the first, which writes part for exscan: long data in a node",
    traffic, applies);

}  // namespace chorus::scan_single_copy
