// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/transport.hpp"

namespace chorus {

/// Each rank's own block goes round to all others: in p-1 steps a rank passes on to the next one the block that it got
/// last. `block(rank)` is where that rank's lies here, as Bytes. Every rank calls.
template <class Block>
Task<> pass_round(Transport& transport, Block block) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const int next = (me + 1) % ranks;
  const int previous = (me + ranks - 1) % ranks;
  const auto behind = [&](int step) { return block((me + ranks - step) % ranks); };
  for (int step = 0; step < ranks - 1; ++step) {
    co_await transport.sendrecv(behind(step), next, behind(step + 1), previous);
  }
}

}  // namespace chorus
