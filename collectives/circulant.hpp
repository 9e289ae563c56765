// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocks.hpp"
#include "reduction.hpp"
#include "task/task.hpp"
#include "transport/transport.hpp"

#include <bit>
#include <cstddef>

namespace chorus {

/// A vector cut into blocks as one rank keeps it: its own block first, then those behind it, round the end.
///
///   blocks 0 1 2 3 4 turned to block 3:   3 4 0 1 2
class TurnedBlocks {
 public:
  TurnedBlocks(const Blocks& blocks, int ranks, int own) noexcept : blocks_(blocks), ranks_(ranks), own_(own) {}

  /// Bytes from the start of the own block to that of the i-th behind it, 0 <= i <= ranks.
  [[nodiscard]] std::size_t offset(int i) const noexcept {
    const int last = own_ + i;
    if (last <= ranks_) return blocks_.span_bytes(own_, last);
    return blocks_.span_bytes(own_, ranks_) + blocks_.span_bytes(0, last - ranks_);
  }
  /// The bytes of the blocks first, first + 1, ... last - 1, counted from the own one, in a turned vector.
  [[nodiscard]] Bytes range(Bytes turned, int first, int last) const noexcept {
    return turned.subspan(offset(first), offset(last) - offset(first));
  }
  /// Copies `vector`, in the order of the blocks, to `turned`; nothing to do where they are the same.
  void turn(std::byte* turned, const std::byte* vector) const noexcept {
    const std::size_t head = blocks_.span_bytes(own_, ranks_);
    const std::size_t tail = blocks_.span_bytes(0, own_);
    copy_unless_same(turned, vector + tail, head);
    copy_unless_same(turned + head, vector, tail);
  }
  void turn_back(std::byte* vector, const std::byte* turned) const noexcept {
    const std::size_t head = blocks_.span_bytes(own_, ranks_);
    const std::size_t tail = blocks_.span_bytes(0, own_);
    copy_unless_same(vector + tail, turned, head);
    copy_unless_same(vector, turned + head, tail);
  }

 private:
  Blocks blocks_;
  int ranks_;
  int own_;
};

/// The rounds of the circulant exchanges among p ranks: round k cuts reach(k) blocks down to reach(k + 1), half of
/// them, rounded up. With p = 7 the reaches are 7 4 2 1.
class CirculantRounds {
 public:
  explicit CirculantRounds(int ranks) noexcept : ranks_(ranks) {}
  [[nodiscard]] int count() const noexcept {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks_ - 1)));
  }
  [[nodiscard]] int reach(int round) const noexcept { return (ranks_ + (1 << round) - 1) >> round; }
  /// Bytes that the busiest rank, which is rank 0, reduces in all rounds.
  [[nodiscard]] std::size_t reduced_bytes(const Blocks& blocks) const noexcept {
    std::size_t bytes = 0;
    for (int round = 0; round < count(); ++round) bytes += blocks.span_bytes(0, reach(round) - reach(round + 1));
    return bytes;
  }

 private:
  int ranks_;
};

/// Reduce-scatter in log2(p) rounds, rounded up, for any p: in round k each rank passes the blocks behind the first
/// reach(k + 1) to the rank that is so far ahead, for which they are the first ones, and reduces what comes in from as
/// far behind. With p = 5 (reaches 5 3 2 1), the rank's own block being 0:
///
///   round 0   0 1 2|3 4   3 4 go 3 ranks ahead, 0 1 come in
///   round 1   0 1|2       2 goes 2 ranks ahead, 0 comes in
///   round 2   0|1         1 goes 1 rank ahead, 0 comes in
///
/// `turned` holds all blocks; in the end it starts with the reduction of the own block, the rest is unspecified.
Task<> circulant_reduce_scatter(Transport& transport, TurnedBlocks blocks, Reduction reduction, Bytes turned);

/// The whole of it: `arguments.in` is cut into `blocks`, of which each rank gets its own.
Task<> circulant_reduce_scatter(Transport& transport, Blocks blocks, Arguments arguments);

/// The same rounds backwards, without a reduction: from the own block at the start of `turned` to all of them.
Task<> circulant_allgather(Transport& transport, TurnedBlocks blocks, Bytes turned);

}  // namespace chorus
