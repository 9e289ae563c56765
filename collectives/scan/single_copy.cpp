// SPDX-License-Identifier: Apache-2.0
//
// Single-copy scan and exscan of two ranks: the first shows where its data lies; the second copies it from there into
// its result and, for scan, joins its own to it.
//
// Nothing goes through shared memory, but the first rank is idle: where caches do not hold the data, both copying a
// segment at a time takes less. Of more ranks each would read those of all before it, and all would wait for the last
// one: passing on the sum so far takes less.

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
  Traffic traffic = single_copy_traffic(problem, 1, 0);
  if (has_own(problem.call)) traffic.read.reduced = static_cast<double>(problem.call.bytes());
  return traffic;
}

class Steps : public SingleCopySteps {
 public:
  Steps(Transport& transport, const Arguments& arguments)
      : SingleCopySteps(transport, arguments), copy_(transport.scratch(overwrites_own() ? bytes() : 0)) {
    if (overwrites_own()) copy_unless_same(copy_.data(), arguments.in, bytes());
  }

  void keep() const {
    if (is_first() && has_own(arguments_.call)) copy_unless_same(arguments_.out, arguments_.in, bytes());
  }
  template <class OfPeer>
  [[nodiscard]] bool copy(OfPeer of) const {
    if (is_first()) return true;
    if (!has_own(arguments_.call)) return memory_.read(0, arguments_.out, of(0).in, bytes());
    return copy_and_join(of(0).in);
  }
  [[nodiscard]] Arguments again() const {
    Arguments arguments = arguments_;
    arguments.in = own();
    return arguments;
  }

 private:
  [[nodiscard]] bool is_first() const { return me() == 0; }
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
  return problem.ranks == 2 && problem.call.bytes() < machine::beyond_caches &&
         SingleCopy<Steps, scan_shared::algorithm>::applies(problem);
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm = single_copy<Steps, scan_shared::algorithm>(
    "the second of two ranks copies from the memory of the first: medium data of two ranks in a node", traffic,
    applies);

}  // namespace chorus::scan_single_copy
