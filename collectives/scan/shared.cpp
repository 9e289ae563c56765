// SPDX-License-Identifier: Apache-2.0
//
// Shared scan and exscan: each rank reads the reduction so far in the slot of the rank before it, joins its own data to
// it and leaves that in its own slot for the rank behind, a segment at a time.
//
// While a rank works on one segment, the rank before it works on the next: a pipeline. With p = 3 and segments A B C:
//
//            rank 0    rank 1    rank 2
//   round 0  A
//   round 1  B         A
//   round 2  C         B         A
//   round 3            C         B
//   round 4                      C
//
// A rank reads one vector and writes one, whatever the number of ranks; the last waits p-1 rounds for its first
// segment. A slot is written again when the rank behind has read it; only the first time in a call is it one that all
// ranks may have read, so that the first rank waits there for the last to come into the call.

#include "base/machine.hpp"
#include "one_round.hpp"
#include "prefix.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::scan_shared {
namespace {

std::size_t segment_of(const Call& call, std::size_t slot_bytes) {
  return call.whole_bytes(std::min(slot_bytes, machine::longest_segment));
}

/// One segment of this rank: `before` is the reduction over the ranks before it, null on the first; `slot` is for the
/// rank behind, null on the last.
void combine(SharedGroup& memory, const Reduction& reduction, const Arguments& segment, const std::byte* before,
             std::byte* slot, std::size_t bytes) {
  const std::byte* const both[] = {before, segment.in};
  if (before == nullptr) {
    if (slot != nullptr) memory.put(slot, segment.in, bytes);
    if (has_own(segment.call)) copy_unless_same(segment.out, segment.in, bytes);
  } else if (has_own(segment.call)) {
    reduction.all(segment.out, both, bytes);
    if (slot != nullptr) memory.put(slot, segment.out, bytes);
  } else {
    if (slot != nullptr) reduction.all(slot, both, bytes);
    copy_unless_same(segment.out, before, bytes);
  }
}

bool applies(const Problem& problem) { return problem.shared && segment_of(problem.call, problem.slot_bytes) > 0; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double segment = std::min(bytes, static_cast<double>(segment_of(problem.call, problem.slot_bytes)));
  const double rounds =
      std::max(1.0, std::ceil(bytes / static_cast<double>(segment_of(problem.call, problem.slot_bytes))));
  const double between = std::max(0, problem.ranks - 2);  // ranks that read and write
  const double until_all_have_come = rounds < data_slots ? 0 : std::max(0, problem.ranks - data_slots / 2);
  const double passes = std::min(problem.ranks - 1, 2);
  const double by_each = 2 * bytes * (problem.ranks - 1) / problem.ranks;  // read and written, in the mean
  const Traffic traffic{
      .shared = {.messages = rounds + between + until_all_have_come,
                 .bytes = by_each,
                 .reduced = joins(problem) ? bytes : 0},
      .alone = passes * (bytes + between * segment) - by_each,  // what the last rank waits for besides
      .messages = {},
      // Each waits for the one before it alone.
      .arrivals = (rounds + between) * problem.largest_node / 2};
  return of_calls_in_a_row(traffic, problem, (rounds + between) / 2);
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const int me = memory.rank();
  const bool first = me == 0;
  const bool last = me == memory.size() - 1;
  const std::size_t segment = segment_of(arguments.call, memory.slot_bytes());
  const std::size_t all = arguments.call.bytes();
  const Reduction reduction(arguments);
  Arguments rest = arguments;
  std::size_t done = 0;
  int segments = 0;
  do {
    const std::size_t bytes = std::min(segment, all - done);
    const bool slot_is_of_this_call = segments++ >= data_slots;
    const Round round = co_await memory.open(slot_is_of_this_call ? line_slots : data_slots);
    if (slot_is_of_this_call && !last) co_await memory.arrival(round - data_slots, me + 1);
    if (!first) co_await memory.arrival(round, me - 1);
    combine(memory, reduction, rest, first ? nullptr : memory.slot(round, me - 1),
            last ? nullptr : memory.slot(round, me), bytes);
    memory.arrive(round);
    rest.in += bytes;
    rest.out += bytes;
    done += bytes;
  } while (done < all);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "the sum so far goes from rank to rank through shared memory, in segments: long messages in a node",
    .source = "Sanders and Traeff, EuroPVM/MPI 2006 (pipelined linear scan), here in shared memory",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
};

}  // namespace chorus::scan_shared
