// SPDX-License-Identifier: Apache-2.0
#include "transport/receipt.hpp"

#include <fmt/format.h>

namespace chorus {

bool Receipt::ready() {
  const SharedGroup::Copied last = group_.receipt_of(peer_);
  // Who could not copy goes on only when it has been given in another way.
  copied_ = last.round > round_ || last.all;
  return last.round >= round_;
}

std::string Receipt::what() const {
  return fmt::format("waiting until rank {} has copied what it gets in round {}", group_.communicator_rank(peer_),
                     round_);
}

}  // namespace chorus
