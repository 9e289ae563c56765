// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/machine.hpp"
#include "task/task.hpp"
#include "transport/shared_group.hpp"

#include <cstddef>
#include <span>

namespace chorus {

/// A buffer that each rank of a collective has, and that the others read where it lies if it is registered memory
/// (chorus/memory.hpp): its rank then copies nothing into its slots. Every rank shows with its arrival at a round
/// whether it lends its buffer, so that ranks may differ, and nothing needs to be agreed on.
///
/// A lent buffer must not change before all have read it. Where no later round tells that, `until_all_have_read` does.
class Loan {
 public:
  /// `bytes` at `data` are this rank's buffer, the same length on all ranks; null where it must not be lent. `place`
  /// tells several loans of a round apart.
  Loan(SharedGroup& memory, const std::byte* data, std::size_t bytes, std::size_t place = 0) noexcept
      : memory_(memory),
        data_(memory.find(memory.rank(), data, bytes) != nullptr ? data : nullptr),
        bytes_(bytes),
        place_(place * sizeof data) {}

  /// True where this rank lends.
  [[nodiscard]] bool own() const noexcept { return data_ != nullptr; }
  /// Shows the buffer to the others; before this rank arrives at `round`.
  void show(Round round) const noexcept { std::memcpy(memory_.payload(round) + place_, &data_, sizeof data_); }
  /// What lies `offset` bytes into the buffer of `peer`, who has arrived at `round`; null where it does not lend.
  [[nodiscard]] const std::byte* of(Round round, int peer, std::size_t offset) const noexcept {
    const std::byte* theirs = nullptr;
    std::memcpy(&theirs, memory_.payload(round, peer) + place_, sizeof theirs);
    const std::byte* const here = theirs == nullptr ? nullptr : memory_.find(peer, theirs, bytes_);
    return here == nullptr ? nullptr : here + offset;
  }
  /// The same where it lends, else `slot`.
  [[nodiscard]] const std::byte* of(Round round, int peer, std::size_t offset, const std::byte* slot) const noexcept {
    const std::byte* const lent = of(round, peer, offset);
    return lent == nullptr ? slot : lent;
  }
  /// The same for all ranks: puts it into `slots` for those who lend. All have arrived at `round`.
  void replace(std::span<const std::byte*> slots, Round round, std::size_t offset) const noexcept {
    for (int peer = 0; peer < memory_.size(); ++peer) {
      const std::byte*& slot = slots[static_cast<std::size_t>(peer)];
      slot = of(round, peer, offset, slot);
    }
  }
  /// True where anybody lends; all have arrived at `round`.
  [[nodiscard]] bool any(Round round) const noexcept {
    for (int peer = 0; peer < memory_.size(); ++peer) {
      if (of(round, peer, 0) != nullptr) return true;
    }
    return false;
  }

 private:
  SharedGroup& memory_;
  const std::byte* data_;
  std::size_t bytes_;
  std::size_t place_;
};

/// What a reduction lends of `bytes` at `data`: nothing of shorter data where cores are far apart. To write what others
/// have read last is slow there, for the reduction and for a program that renews its data; slots are written past the
/// caches.
[[nodiscard]] inline const std::byte* lendable(const SharedGroup& memory, const std::byte* data,
                                               std::size_t bytes) noexcept {
  return bytes < machine::lent_by_far_cores_from && memory.pace().far_apart() ? nullptr : data;
}

/// The last round of a collective in which somebody lends, run by all ranks: ends when all have read, and throws where
/// a rank has given up, whose data may have changed before it was read.
Task<> until_all_have_read(SharedGroup& memory);
/// The same where `lender` alone lends: the others do not wait, but throw where a rank has given up.
Task<> until_all_have_read(SharedGroup& memory, int lender);

}  // namespace chorus
