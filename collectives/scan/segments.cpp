// SPDX-License-Identifier: Apache-2.0
//
// Segments scan and exscan: every rank shows its data in its slot of the shared memory, a segment at a time, and
// reduces that of the ranks before it, in the order of the ranks.
//
// A rank reads as many vectors as there are ranks before it, so `shared`, in which it reads one, is faster with many
// ranks. But here all contributions are seen at once, so that exact sums need no accumulators to be passed on.

#include "one_round.hpp"
#include "prefix.hpp"
#include "prefix_one_shot.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::scan_segments {
namespace {

using Steps = prefix_one_shot::Steps<InSlot>;

std::size_t segment_of(const Call& call, std::size_t slot_bytes) { return call.whole_bytes(slot_bytes); }

bool applies(const Problem& problem) { return problem.shared && segment_of(problem.call, problem.slot_bytes) > 0; }

Traffic traffic(const Problem& problem) {
  Traffic traffic = prefix_one_shot::traffic(problem);
  const double bytes = static_cast<double>(problem.call.bytes());
  const double segment = static_cast<double>(segment_of(problem.call, problem.slot_bytes));
  traffic.shared.messages = 1 + std::ceil(bytes / segment);  // the last rank works on a segment after the others
  return traffic;
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const std::size_t whole = arguments.call.count;
  const std::size_t most = segment_of(arguments.call, memory.slot_bytes()) / arguments.call.element_bytes();
  std::size_t done = 0;
  do {
    arguments.call.count = std::min(most, whole - done);
    co_await OneRound<Steps, InSlot>::run(transport, arguments);
    arguments.in += arguments.call.bytes();
    arguments.out += arguments.call.bytes();
    done += arguments.call.count;
  } while (done < whole);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "segments",
    .summary = "every rank reads the segments of those before it in shared memory: long exact sums in a node",
    .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::scan_segments
