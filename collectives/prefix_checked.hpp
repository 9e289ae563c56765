// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "door.hpp"

namespace chorus {

/// The checked arguments of a scan or an exscan.
[[nodiscard]] inline Arguments prefix_arguments(const detail::CommunicatorState& state, Collective collective,
                                                const detail::Buffers& buffers, ReduceOp op) {
  check_op(state, collective, buffers.type, op);
  check_counts(state, collective, buffers, buffers.in_count == buffers.out_count, "give both the same length");
  if (buffers.in != buffers.out) check_overlap(state, collective, buffers);
  return {.call = {.collective = collective, .type = buffers.type, .op = op, .count = buffers.in_count},
          .in = static_cast<const std::byte*>(buffers.in),
          .out = static_cast<std::byte*>(buffers.out)};
}

}  // namespace chorus
