// SPDX-License-Identifier: Apache-2.0
//
// Shared allreduce: reduce-scatter and allgather through the shared memory (two shots), one slot's length of the vector
// at a time.
//
// The vector goes by in segments, each cut into a piece a rank. Before a rank arrives at a round it has copied its data
// of the next segment into its slot, all but its own piece; has reduced that of the last one from everybody's slots,
// straight into the result and into the place that is free in its slot; and has fetched what the others have reduced of
// the one before. With p = 3, pieces A, B and C of the segments 1 and 2, what rank 1 does:
//
//   round 1   slot <- A1 C1
//   round 2   slot <- A2 C2   result B1, slot <- sum of B1
//   round 3                   result B2, slot <- sum of B2   result A1 C1 <- their slots
//   after                                                    result A2 C2 <- their slots
//
// What goes into shared memory is streamed past the caches: writing lines that another core read last would cost more
// than everything else. A rank moves 2n bytes in and 2n out whatever the number of ranks. Short vectors pay for the
// second round. Registered memory is lent instead of copied in: what others read of an input nobody overwrites before
// all have reduced, in place either. A lent result is read where it stands, and one round more ends the call.

#include "lending.hpp"
#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>

namespace chorus::allreduce_shared {
namespace {

bool applies(const Problem& problem) { return problem.shared && problem.call.element_bytes() <= problem.slot_bytes; }

int segments_of(const Call& call, std::size_t slot_bytes) {
  const std::size_t longest = std::max<std::size_t>(1, call.whole_bytes(slot_bytes));
  return static_cast<int>(std::max<std::size_t>(1, (call.bytes() + longest - 1) / longest));
}

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = (problem.ranks - 1.0) / problem.ranks;
  return {.shared = {.messages = segments_of(problem.call, problem.slot_bytes) + 1.0,
                     .bytes = bytes * (1 + 3 * others),
                     .reduced = bytes * others},
          .messages = {},
          .far = far_by_all(problem, 2 * bytes * others)};
}

/// The steps of one rank.
class TwoShot {
 public:
  TwoShot(SharedGroup& memory, const Arguments& arguments)
      : memory_(memory),
        arguments_(arguments),
        reduction_(arguments),
        segments_(arguments.call.bytes(), arguments.call.element_bytes(),
                  segments_of(arguments.call, memory.slot_bytes())),
        pieces_(segments_.bytes(0), arguments.call.element_bytes(), memory.size()),
        in_(memory, lendable(memory, arguments.in, arguments.call.bytes()), arguments.call.bytes()),
        out_(memory, lendable(memory, arguments.out, arguments.call.bytes()), arguments.call.bytes(), 1) {}

  /// Copies a segment of `in`, all but this rank's piece, into this rank's slot.
  void copy_in(Round round, int segment) const {
    if (in_.own()) return;
    const Pieces pieces = pieces_of(segment);
    const std::byte* const in = arguments_.in + segments_.offset(segment);
    const std::size_t end = pieces.offset(me() + 1);
    memory_.put(memory_.slot(round, me()), in, pieces.offset(me()));
    memory_.put(memory_.slot(round, me()) + end, in + end, segments_.bytes(segment) - end);
  }

  /// Reduces this rank's piece of the segment that came with the round before, into `out` and into this rank's slot.
  void reduce_own(Round round, int segment) {
    const Pieces pieces = pieces_of(segment);
    const std::size_t begin = segments_.offset(segment);
    const std::size_t end = pieces.offset(me() + 1), block = block_copied_on(arguments_.call);
    for (std::size_t offset = pieces.offset(me()); offset < end; offset += block) {
      const std::size_t bytes = std::min(block, end - offset);
      const std::span<const std::byte*> inputs = memory_.slots(round - 1, offset);
      in_.replace(inputs, round - 1, begin + offset);
      inputs[static_cast<std::size_t>(me())] = arguments_.in + begin + offset;
      std::byte* const out = arguments_.out + begin + offset;
      reduction_.all(out, inputs, bytes);
      if (!out_.own()) memory_.put(memory_.slot(round, me()) + offset, out, bytes);
    }
  }

  /// Fetches what the others have reduced in `round`, beginning with the next rank so that not all read from one.
  void copy_out(Round round, int segment) const {
    const Pieces pieces = pieces_of(segment);
    for_others(memory_, [&](int owner) {
      const std::size_t offset = pieces.offset(owner), place = segments_.offset(segment) + offset;
      const std::byte* const theirs = out_.of(round, owner, place, memory_.slot(round, owner) + offset);
      kernels::copy(arguments_.out + place, theirs, pieces.bytes(owner), kernels::Store::cached);
    });
  }

  // What ranks lend: the others may still have to read a result when this one has fetched all.
  [[nodiscard]] const Loan& in() const { return in_; }
  [[nodiscard]] const Loan& out() const { return out_; }

 private:
  [[nodiscard]] int me() const { return memory_.rank(); }
  /// As they lie in the first segment, which is the longest: pieces of two segments are in one slot.
  [[nodiscard]] Pieces pieces_of(int segment) const { return pieces_.cut_to(segments_.bytes(segment)); }

  SharedGroup& memory_;
  const Arguments& arguments_;
  Reduction reduction_;
  Pieces segments_;
  Pieces pieces_;
  Loan in_;
  Loan out_;
};

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  TwoShot steps(memory, arguments);
  const int segments = segments_of(arguments.call, memory.slot_bytes());
  Round round = 0;
  for (int segment = 0; segment <= segments; ++segment) {
    round = co_await memory.open(data_slots);
    steps.in().show(round);
    steps.out().show(round);
    if (segment < segments) steps.copy_in(round, segment);
    if (segment > 0) co_await memory.arrivals(round - 1);
    if (segment > 0) steps.reduce_own(round, segment - 1);
    if (segment > 1) steps.copy_out(round - 1, segment - 2);
    memory.arrive(round);
  }
  co_await memory.arrivals(round);
  steps.copy_out(round, segments - 1);
  if (steps.out().any(round)) co_await until_all_have_read(memory);
  if (steps.in().any(round)) memory.check_others();  // who has arrived may have given up since
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "shared",
    .summary = "each rank reduces its piece of everybody's data in shared memory: long messages in a node",
    .source = "Two-shot form with streaming stores: Peng et al., SC 2023 (YHCCL)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::allreduce_shared
