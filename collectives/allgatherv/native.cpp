// SPDX-License-Identifier: Apache-2.0
//
// Native allgatherv: the MPI library's own. Every rank knows all counts, but its displacements are its own, and MPI's
// are of int: blocks that lie farther are received one behind another, and copied to their places at the end.

#include "sections.hpp"
#include "vendor.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

namespace chorus::allgatherv_native {
namespace {

bool has_far_blocks(const Arguments& arguments) {
  return std::ranges::any_of(arguments.out_sections,
                             [](const Section& block) { return block.bytes > 0 && block.offset > INT_MAX; });
}

/// The call with the blocks of its result one behind another.
class Packed {
 public:
  Packed(Transport& transport, const Arguments& arguments)
      : whole_(arguments), call_(arguments), blocks_(transport.scratch(arguments.call.bytes())) {
    std::size_t end = 0;
    for (const Section& block : arguments.out_sections) {
      out_.push_back({end, block.bytes});
      end += block.bytes;
    }
    const Section mine = arguments.in_sections[0];  // the same for every rank
    in_.assign(arguments.in_sections.size(), {0, mine.bytes});
    call_.in = arguments.in + mine.offset;
    call_.out = blocks_.data();
    call_.in_sections = in_;
    call_.out_sections = out_;
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  [[nodiscard]] const Arguments& call() const noexcept { return call_; }
  void unpack() const {
    for (std::size_t rank = 0; rank < out_.size(); ++rank) {
      if (out_[rank].bytes == 0) continue;
      std::memcpy(whole_.out + whole_.out_sections[rank].offset, call_.out + out_[rank].offset, out_[rank].bytes);
    }
  }

 private:
  const Arguments& whole_;
  Arguments call_;
  Scratch blocks_;
  std::vector<Section> in_, out_;
};

Task<> run(Transport& transport, Arguments arguments) {
  if (!has_far_blocks(arguments)) {
    co_await vendor::run(transport, arguments);
    co_return;
  }
  const Packed packed(transport, arguments);
  co_await vendor::run(transport, packed.call());
  packed.unpack();
}

void now(Transport& transport, const Arguments& arguments) {
  if (!has_far_blocks(arguments)) return vendor::now(transport, arguments);
  const Packed packed(transport, arguments);
  vendor::now(transport, packed.call());
  packed.unpack();
}

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm{
    .name = vendor::native_name,
    .summary = "the MPI library's own collective",
    .source = "the MPI library",
    .applies = vendor::applies,
    .traffic = message_traffic,
    .run = run,
    .now = now,
};

}  // namespace chorus::allgatherv_native
