// SPDX-License-Identifier: Apache-2.0
//
// Shared allreduce: reduce-scatter and allgather through the shared memory (two shots: two rounds), one slot's length
// of the vector at a time.
//
// Each slot's length is cut into a piece a rank. In the first round a rank copies all pieces but its own into its slot;
// then it reads its own piece from everybody's slot and reduces it, straight into the result and into its slot of the
// second round, from which the others fetch it. With p = 3, written as reads and writes of rank 1 (pieces A B C):
//
//   copy in    slot <- A C
//   round 1    everybody has copied in
//   reduce     result B <- slot0 B + own B + slot2 B, and slot' <- result B
//   round 2    everybody has reduced
//   copy out   result A <- slot'0 A,  result C <- slot'2 C
//
// What goes into shared memory is streamed past the caches: writing lines that another core read last would cost more
// than everything else. A rank moves 2n bytes in and 2n out whatever the number of ranks. Short vectors pay for the
// second round.
//
// Registered memory is lent instead of copied in: what others read of an input nobody overwrites before all have
// reduced, in place either. A lent result is read where it stands, and one round more ends the call.

#include "lending.hpp"
#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::allreduce_shared {
namespace {

bool applies(const Problem& problem) { return problem.shared && problem.call.element_bytes() <= problem.slot_bytes; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = (problem.ranks - 1.0) / problem.ranks;
  const double chunks =
      std::max(1.0, std::ceil(bytes / static_cast<double>(problem.call.whole_bytes(problem.slot_bytes))));
  return {.shared = {.messages = 2 * chunks, .bytes = bytes * (1 + 3 * others), .reduced = bytes * others},
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
        in_(memory, lendable(memory, arguments.in, arguments.call.bytes()), arguments.call.bytes()),
        out_(memory, lendable(memory, arguments.out, arguments.call.bytes()), arguments.call.bytes(), 1) {}

  /// Copies the `bytes` that stand `done` bytes into `in`, all but this rank's piece, into this rank's slot.
  void copy_in(Round copied, std::size_t done, std::size_t bytes) {
    done_ = done;
    pieces_ = Pieces(bytes, arguments_.call.element_bytes(), memory_.size());
    in_.show(copied);
    if (in_.own()) return;
    const std::byte* const in = arguments_.in + done_;
    std::byte* slot = memory_.slot(copied, me());
    const std::size_t end = pieces_.offset(me() + 1);
    memory_.put(slot, in, pieces_.offset(me()));
    memory_.put(slot + end, in + end, bytes - end);
  }

  /// Reduces this rank's piece of everybody's data into `out` and into this rank's slot of the next round.
  void reduce_own(Round copied, Round reduced) {
    out_.show(reduced);
    const std::size_t end = pieces_.offset(me() + 1);
    const std::size_t block = block_copied_on(arguments_.call);
    for (std::size_t offset = pieces_.offset(me()); offset < end; offset += block) {
      const std::size_t bytes = std::min(block, end - offset);
      const std::span<const std::byte*> inputs = memory_.slots(copied, offset);
      in_.replace(inputs, copied, done_ + offset);
      inputs[static_cast<std::size_t>(me())] = arguments_.in + done_ + offset;
      std::byte* const out = arguments_.out + done_ + offset;
      reduction_.all(out, inputs, bytes);
      if (!out_.own()) memory_.put(memory_.slot(reduced, me()) + offset, out, bytes);
    }
  }

  /// Fetches what the others have reduced, beginning with the next rank so that not all read from one.
  void copy_out(Round reduced) const {
    for (int step = 1; step < memory_.size(); ++step) {
      const int owner = (me() + step) % memory_.size();
      const std::size_t offset = pieces_.offset(owner);
      const std::byte* const theirs = out_.of(reduced, owner, done_ + offset, memory_.slot(reduced, owner) + offset);
      kernels::copy(arguments_.out + done_ + offset, theirs, pieces_.bytes(owner), kernels::Store::cached);
    }
  }

  /// True where a result is still to be read when this rank has fetched all.
  [[nodiscard]] bool is_read_on(Round reduced) const { return out_.any(reduced); }
  /// True where this rank has read an input where it stands.
  [[nodiscard]] bool has_read_lent(Round copied) const { return in_.any(copied); }

 private:
  [[nodiscard]] int me() const { return memory_.rank(); }

  SharedGroup& memory_;
  const Arguments& arguments_;
  Reduction reduction_;
  Loan in_;
  Loan out_;
  std::size_t done_ = 0;
  Pieces pieces_{0, 1, 1};
};

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  TwoShot steps(memory, arguments);
  const std::size_t all = arguments.call.bytes();
  const std::size_t longest = arguments.call.whole_bytes(memory.slot_bytes());
  Round copied = 0, reduced = 0;
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(longest, all - done);
    copied = co_await memory.open(data_slots);
    steps.copy_in(copied, done, bytes);
    memory.arrive(copied);
    co_await memory.arrivals(copied);
    reduced = co_await memory.open(data_slots);
    steps.reduce_own(copied, reduced);
    memory.arrive(reduced);
    co_await memory.arrivals(reduced);
    steps.copy_out(reduced);
    done += bytes;
  } while (done < all);
  if (steps.is_read_on(reduced)) co_await until_all_have_read(memory);
  if (steps.has_read_lent(copied)) memory.check_others();  // who has arrived may have given up since
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
