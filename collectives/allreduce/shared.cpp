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

#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::allreduce_shared {
namespace {

constexpr std::size_t block_bytes =
    std::size_t{16} * 1024;  // reduced, then copied on while it is still in the first-level cache

bool applies(const Problem& problem) { return problem.shared && problem.call.element_bytes() <= problem.slot_bytes; }

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double others = (problem.ranks - 1.0) / problem.ranks;
  const double chunks =
      std::max(1.0, std::ceil(bytes / static_cast<double>(problem.call.whole_bytes(problem.slot_bytes))));
  return {.shared = {.messages = 2 * chunks, .bytes = bytes * (1 + 3 * others), .reduced = bytes * others},
          .messages = {}};
}

/// Copies all of `in` but this rank's piece into this rank's slot.
void copy_in(SharedGroup& memory, Round round, const Pieces& pieces, ConstBytes in) {
  std::byte* slot = memory.slot(round, memory.rank());
  const std::size_t begin = pieces.offset(memory.rank());
  const std::size_t end = pieces.offset(memory.rank() + 1);
  memory.put(slot, in.data(), begin);
  memory.put(slot + end, in.data() + end, in.size() - end);
}

/// Reduces this rank's piece of everybody's slot into `out` and into this rank's slot of the next round.
void reduce_own(SharedGroup& memory, Round round, const Pieces& pieces, const Reduction& reduction,
                const Arguments& chunk) {
  const auto me = static_cast<std::size_t>(memory.rank());
  const std::size_t end = pieces.offset(memory.rank() + 1);
  const std::size_t block = std::max(chunk.call.whole_bytes(block_bytes), chunk.call.element_bytes());
  for (std::size_t offset = pieces.offset(memory.rank()); offset < end; offset += block) {
    const std::size_t bytes = std::min(block, end - offset);
    const std::span<const std::byte*> inputs = memory.slots(round, offset);
    inputs[me] = chunk.in + offset;
    reduction.all(chunk.out + offset, inputs, bytes);
    memory.put(memory.slot(round + 1, memory.rank()) + offset, chunk.out + offset, bytes);
  }
}

/// Fetches what the others have reduced, beginning with the next rank so that not all read from one.
void copy_out(const SharedGroup& memory, Round round, const Pieces& pieces, std::byte* out) {
  for (int step = 1; step < memory.size(); ++step) {
    const int owner = (memory.rank() + step) % memory.size();
    const std::size_t offset = pieces.offset(owner);
    kernels::copy(out + offset, memory.slot(round, owner) + offset, pieces.bytes(owner), kernels::Store::cached);
  }
}

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const Reduction reduction(arguments);
  const std::size_t all = arguments.call.bytes();
  const std::size_t longest = arguments.call.whole_bytes(memory.slot_bytes());
  std::size_t done = 0;
  do {
    const std::size_t bytes = std::min(longest, all - done);
    const Pieces pieces(bytes, arguments.call.element_bytes(), memory.size());
    const Arguments chunk{arguments.call, arguments.in + done, arguments.out + done};
    const Round copied = co_await memory.open(data_slots);
    copy_in(memory, copied, pieces, {chunk.in, bytes});
    memory.arrive(copied);
    co_await memory.arrivals(copied);
    const Round reduced = co_await memory.open(data_slots);
    reduce_own(memory, copied, pieces, reduction, chunk);
    memory.arrive(reduced);
    co_await memory.arrivals(reduced);
    copy_out(memory, reduced, pieces, chunk.out);
    done += bytes;
  } while (done < all);
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
