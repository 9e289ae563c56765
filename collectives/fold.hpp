// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reduction.hpp"
#include "task/task.hpp"
#include "transport/transport.hpp"

#include <bit>

namespace chorus {

/// The ranks cut down to a power of two, for the algorithms that need one. Of p = core + extra ranks the first
/// 2 * extra form pairs; the odd rank of a pair gives its data to the even one, sits out, and gets the result in the
/// end. The others, `core` of them, have places in the order of their ranks:
///
///   p = 6, core 4, extra 2:   ranks  0<-1  2<-3  4  5
///                             places 0     1     2  3
class Fold {
 public:
  Fold(int rank, int ranks) noexcept : rank_(rank), core_(core_of(ranks)), extra_(ranks - core_) {}

  [[nodiscard]] static int core_of(int ranks) noexcept {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  }
  [[nodiscard]] int core() const noexcept { return core_; }
  [[nodiscard]] bool paired() const noexcept { return rank_ < 2 * extra_; }
  /// The other rank of this one's pair.
  [[nodiscard]] int partner() const noexcept { return rank_ ^ 1; }
  [[nodiscard]] bool sits_out() const noexcept { return paired() && rank_ % 2 == 1; }
  /// The place of this rank, if it does not sit out.
  [[nodiscard]] int place() const noexcept { return paired() ? rank_ / 2 : rank_ - extra_; }
  [[nodiscard]] int rank_at(int place) const noexcept { return place < extra_ ? 2 * place : place + extra_; }

 private:
  int rank_;
  int core_;
  int extra_;
};

/// Of a rank that is paired: reduces the `data` of the pair into that of its even rank. `scratch` is as long as `data`.
Task<> fold_in(Transport& transport, Fold fold, Reduction reduction, Bytes data, Bytes scratch);

/// Of a rank that is paired: gives the odd one the `data` of the even one.
Task<> fold_out(Transport& transport, Fold fold, Bytes data);

}  // namespace chorus
