// SPDX-License-Identifier: Apache-2.0
//
// Two-shot reduce: in shared memory each rank but the root reduces its piece of everybody's data; the root collects.
//
// The vector goes by in segments. Before a rank arrives at a round it has copied its data of the next segment into its
// slot and reduced its piece of the last one there; the root has collected the one before instead. With p = 3 and root
// 0, pieces A and B of the segments 1 and 2, what is written into the slots:
//
//   round    rank 0         rank 1                  rank 2
//   1        A1 B1          B1                      A1
//   2        A2 B2          B2, sum of A1           A2, sum of B1
//   3        (reads A1 B1)  sum of A2               sum of B2
//   after    (reads A2 B2)
//
// Each rank writes and reads n; by `shared` the root reads all vectors. Registered memory is read where it lies.

#include "base/machine.hpp"
#include "lending.hpp"
#include "one_round.hpp"
#include "pieces.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <cmath>

namespace chorus::reduce_two_shot {
namespace {

/// A slot holds a segment and, behind it, a piece.
std::size_t segment_of(const Call& call, std::size_t slot_bytes) {
  return call.whole_bytes(std::min(slot_bytes / 2, machine::longest_segment));
}

bool applies(const Problem& problem) {
  return problem.shared && problem.ranks > 2 && segment_of(problem.call, problem.slot_bytes) > 0;
}

Traffic traffic(const Problem& problem) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double longest = static_cast<double>(segment_of(problem.call, problem.slot_bytes));
  const double segments = std::max(1.0, std::ceil(bytes / longest));
  return {.shared = {.messages = segments + 1, .bytes = 2 * bytes + std::min(bytes, longest), .reduced = bytes},
          .messages = {},
          .far = far_by_all(problem, bytes)};
}

class TwoShot {
 public:
  TwoShot(SharedGroup& memory, const Arguments& arguments)
      : memory_(memory),
        arguments_(arguments),
        reduction_(arguments),
        longest_(segment_of(arguments.call, memory.slot_bytes())),
        in_(memory, lendable(memory, arguments.in, arguments.call.bytes()), arguments.call.bytes()) {}

  [[nodiscard]] bool is_root() const { return memory_.rank() == arguments_.call.root; }
  [[nodiscard]] bool lends() const { return in_.own(); }
  [[nodiscard]] std::size_t segments() const {
    return std::max<std::size_t>(1, (arguments_.call.bytes() + longest_ - 1) / longest_);
  }

  void copy_in(Round round, std::size_t number) const {
    in_.show(round);
    if (in_.own()) return;
    const Pieces pieces = pieces_of(number);
    const std::byte* const in = arguments_.in + begin_of(number);
    std::byte* const slot = memory_.slot(round, memory_.rank());
    if (is_root()) return memory_.put(slot, in, bytes_of(number));
    const std::size_t behind = pieces.offset(own_piece() + 1);
    memory_.put(slot, in, pieces.offset(own_piece()));
    memory_.put(slot + behind, in + behind, bytes_of(number) - behind);
  }

  /// Of what was shown in the round before.
  void reduce_piece(Round round, std::size_t number) const {
    const Pieces pieces = pieces_of(number);
    const std::size_t offset = pieces.offset(own_piece());
    const std::span<const std::byte*> inputs = memory_.slots(round - 1, offset);
    in_.replace(inputs, round - 1, begin_of(number) + offset);
    inputs[static_cast<std::size_t>(memory_.rank())] = arguments_.in + begin_of(number) + offset;
    reduction_.all(place_of_piece(round, memory_.rank()), inputs, pieces.bytes(own_piece()));
    if (in_.any(round - 1)) memory_.check_others();
  }

  /// What the others have reduced in `round`.
  void collect(Round round, std::size_t number) const {
    const Pieces pieces = pieces_of(number);
    for_others(memory_, [&](int rank) {
      const int piece = piece_of(rank);
      kernels::copy(arguments_.out + begin_of(number) + pieces.offset(piece), place_of_piece(round, rank),
                    pieces.bytes(piece), kernels::Store::cached);
    });
  }

 private:
  [[nodiscard]] std::size_t begin_of(std::size_t number) const { return number * longest_; }
  [[nodiscard]] std::size_t bytes_of(std::size_t number) const {
    return std::min(longest_, arguments_.call.bytes() - begin_of(number));
  }
  [[nodiscard]] Pieces pieces_of(std::size_t number) const {
    return {bytes_of(number), arguments_.call.element_bytes(), memory_.size() - 1};
  }
  /// Of a rank that is not the root.
  [[nodiscard]] int piece_of(int rank) const { return rank < arguments_.call.root ? rank : rank - 1; }
  [[nodiscard]] int own_piece() const { return piece_of(memory_.rank()); }
  [[nodiscard]] std::byte* place_of_piece(Round round, int rank) const {
    return memory_.slot(round, rank) + memory_.slot_bytes() / 2;
  }

  SharedGroup& memory_;
  const Arguments& arguments_;
  Reduction reduction_;
  std::size_t longest_;
  Loan in_;
};

Task<> run(Transport& transport, Arguments arguments) {
  SharedGroup& memory = *transport.shared();
  const TwoShot steps(memory, arguments);
  const std::size_t segments = steps.segments();
  Round round = 0;
  for (std::size_t number = 0; number <= segments; ++number) {
    round = co_await memory.open(data_slots);
    if (number < segments) steps.copy_in(round, number);
    if (number > 0) co_await memory.arrivals(round - 1);
    if (number > 0 && !steps.is_root()) steps.reduce_piece(round, number - 1);
    if (number > 1 && steps.is_root()) steps.collect(round - 1, number - 2);
    memory.arrive(round);
  }
  if (!steps.is_root() && !steps.lends()) co_return;
  co_await memory.arrivals(round);
  if (steps.is_root()) steps.collect(round, segments - 1);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "two_shot",
    .summary =
        "each rank reduces its piece of everybody's data in shared memory, the root collects: long vectors in a node",
    .source = "The two-shot allreduce of Peng et al., SC 2023 (YHCCL), whose second half is a gather",
    .applies = applies,
    .traffic = traffic,
    .run = run,
    .arrives = true,
    .at_once = true,
};

}  // namespace chorus::reduce_two_shot
