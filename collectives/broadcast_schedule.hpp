// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "circulant.hpp"
#include "transport/transport.hpp"

#include <array>

namespace chorus {

struct LinkModel;

/// One place's part in a broadcast of n blocks to p places in n - 1 + q rounds, where q is log2(p), rounded up: no
/// schedule can do with fewer. The root is place 0; in each round a place sends one block and gets one. The distances
/// are those of CirculantRounds, from the shortest on, again and again. With p = 5 and n = 3, `b>x` being block b that
/// is sent to place x:
///
///   distance    2     3     1     2     3
///   place 0    0>2   1>3   2>1   2>2   2>3
///   place 1                            2>4
///   place 2                0>3   0>4
///   place 3                1>4         0>1
///   place 4                      1>1   1>2
///
/// Backwards it is a reduction: where a place gets a block, it gives what it has reduced of that block.
class BroadcastSchedule {
 public:
  BroadcastSchedule(int place, int ranks, int blocks) noexcept;

  [[nodiscard]] int rounds() const noexcept { return ranks_ == 1 ? 0 : blocks_ - 1 + period_; }
  /// What a place does in one round. Places and blocks are no_rank and no_block where there is nothing to do.
  struct Round {
    int outgoing = no_block;
    int ahead = no_rank;
    int incoming = no_block;
    int behind = no_rank;
    [[nodiscard]] bool idle() const noexcept { return ahead == no_rank && behind == no_rank; }
  };
  static constexpr int no_block = -1;
  [[nodiscard]] Round round(int number) const noexcept;

  /// The number of blocks with which `call` takes least time over the network of `links`; null: the built-in model.
  [[nodiscard]] static int best_blocks(const Call& call, int ranks, const LinkModel* links) noexcept;

 private:
  static constexpr int longest_period = 32;
  using Period = std::array<int, longest_period>;

  /// How far ahead blocks go in round k of each period; for k = period_: all the way round.
  [[nodiscard]] int distance(int k) const noexcept { return CirculantRounds(ranks_).reach(period_ - k); }
  /// The block that comes to `place` first.
  [[nodiscard]] int first_block(int place) const noexcept;
  /// What comes to `place` in the first rounds of a period in which the root sends the blocks 0, 1, ...: its first
  /// block and, with numbers below 0, blocks of earlier periods.
  [[nodiscard]] Period received(int place, int rounds) const noexcept;

  int place_;
  int ranks_;
  int blocks_;
  int period_;
  Period incoming_{};
  Period outgoing_{};
};

}  // namespace chorus
