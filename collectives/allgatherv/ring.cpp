// SPDX-License-Identifier: Apache-2.0
//
// Ring allgatherv: in p-1 steps each rank passes on to the next one the block that it got last.
//
// With p = 3, the blocks that each rank has:
//
//            rank 0   rank 1   rank 2
//   start    0        1        2
//   step 1   0.2      01.      .12
//   step 2   012      012      012
//
// Each block goes as it is, straight from and to its place in `out`, and only to a neighbour, which is near in most
// placements: between nodes one rank of each sends. All wait for the longest block in each step. Right for any p.

#include "ring.hpp"
#include "section_messages.hpp"
#include "sections.hpp"

namespace chorus::allgatherv_ring {
namespace {

Traffic traffic(const Problem& problem) {
  Traffic traffic = message_traffic(problem);
  traffic.to_next = 1;
  return traffic;
}

Task<> run(Transport& transport, Arguments arguments) {
  copy_own(arguments, static_cast<std::size_t>(transport.rank()));
  co_await pass_round(transport, [&](int rank) {
    const Section& section = arguments.out_sections[static_cast<std::size_t>(rank)];
    return Bytes(arguments.out + section.offset, section.bytes);
  });
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "ring",
    .summary = "blocks of any lengths go round a ring: neighbours only",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = [](const Problem& /*problem*/) { return true; },
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allgatherv_ring
