// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/machine.hpp"
#include "task/task.hpp"
#include "transport/transport.hpp"

#include <array>
#include <cstddef>

namespace chorus {

/// Up to three exchanges that are under way together; those without a destination and a source are none.
Task<> three_at_once(Transport& transport, std::array<Envelope, 3> exchanges);

/// A message that comes in while other things go on. Where it is not awaited it is given up.
class PostedReceive {
 public:
  /// Of the messages from one rank: where several are on their way none is longer, as those that are may come in parts,
  /// of which the last ones are asked for later.
  static constexpr std::size_t longest_of_several = 2 * machine::longest_segment;

  PostedReceive(Transport& transport, Bytes incoming, int source, Where where)
      : transport_(transport), exchange_(transport.receive(incoming, source, where)) {}
  PostedReceive(const PostedReceive&) = delete;
  PostedReceive& operator=(const PostedReceive&) = delete;
  ~PostedReceive() {
    if (!there_) transport_.cancel(exchange_);
  }

  [[nodiscard]] Task<> comes() {
    co_await exchange_;
    there_ = true;
  }

 private:
  Transport& transport_;
  Exchange exchange_;
  bool there_ = false;
};

}  // namespace chorus
