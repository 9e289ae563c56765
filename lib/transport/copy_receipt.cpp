// SPDX-License-Identifier: Apache-2.0
#include "transport/copy_receipt.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>

namespace chorus {

void give_receipt(SharedGroup& group, Round round, bool all) {
  group.receipt_of(group.rank()).store(round << 1U | (all ? 1U : 0U), std::memory_order_release);
  group.tell();
}

bool CopyReceipt::ready() {
  const std::uint64_t last = group_.receipt_of(peer_).load(std::memory_order_acquire);
  // Who could not copy goes on only when it has been given in another way.
  copied_ = last >> 1U > round_ || (last & 1U) != 0;
  return last >> 1U >= round_;
}

std::string CopyReceipt::what() const {
  return fmt::format("waiting until rank {} has copied what it gets in round {}", group_.communicator_rank(peer_),
                     round_);
}

}  // namespace chorus
