// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "door.hpp"

namespace chorus {

/// The checked arguments of a scan or an exscan.
[[nodiscard]] inline Arguments prefix_arguments(const detail::CommunicatorState& state, Collective collective,
                                                const detail::Buffers& buffers, const detail::Operation& operation) {
  check_op(state, collective, buffers.type, operation);
  check_counts(state, collective, buffers, buffers.in_count == buffers.out_count, "give both the same length");
  if (buffers.in != buffers.out) check_overlap(state, collective, buffers);
  return arguments_of(state, collective, buffers, buffers.in_count, operation);
}

}  // namespace chorus
