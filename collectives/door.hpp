// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "choose.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

namespace chorus {

// What the doors of all collectives do alike: a door checks its arguments and makes a Call and Arguments of them; what
// follows is the same for all.

enum class Form { blocking, request };

/// The algorithm for `call`. Remembers its choices, as programs repeat their calls.
[[nodiscard]] const Algorithm& chosen(detail::CommunicatorState& state, const Call& call,
                                      const CollectiveOptions& options, Form form);

/// Carries it out; returns when this rank has its result.
void complete(detail::CommunicatorState& state, const Arguments& arguments, const CollectiveOptions& options);

/// Starts it.
[[nodiscard]] Request start(const Communicator& comm, const Arguments& arguments, const CollectiveOptions& options);

// The checks; each throws Error{invalid_argument} naming the collective, the argument, the rank and the remedy.

void check_op(const detail::CommunicatorState& state, Collective collective, DataType type, ReduceOp op);
void check_root(const detail::CommunicatorState& state, Collective collective, int root);
/// The lengths must be right; `rule` says what is.
void check_counts(const detail::CommunicatorState& state, Collective collective, const detail::Buffers& buffers,
                  bool right, const char* rule);
void check_overlap(const detail::CommunicatorState& state, Collective collective, const detail::Buffers& buffers);

}  // namespace chorus
