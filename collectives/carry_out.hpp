// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "transport/mismatch_report.hpp"
#include "transport/shared_group.hpp"

#include <cstdint>
#include <string_view>

namespace chorus {

/// A whole collective by `algorithm`: signs the call, waits for the arrival of every rank of the node where the
/// algorithm has no such round of its own, runs it, and divides an average. With `compare` it first exchanges the call
/// with the ranks before and after this one, so that nodes that differ are found: throws Error{mismatch}.
Task<> carry_out(const Algorithm& algorithm, Transport& transport, Arguments arguments, bool compare = false);

/// The part of it without signs and arrivals: for an algorithm that leaves all of its call to another one.
Task<> carry_alone(const Algorithm& algorithm, Transport& transport, Arguments arguments);

/// What `compare` does: waits for the call of the rank before, and throws Error{mismatch} where it differs. Not all
/// calls are equal if, and only if, some rank's differs from that of the rank before it.
Task<> compare_with_previous(Transport& transport, Call call, PurposeText purpose);

// The same without a coroutine: what comes before `algorithm.now`, and what after it.

/// Measures the pace of shared memory again, where that is old.
void renew_pace_now(SharedGroup& memory);
/// `call` says its algorithm.
inline void begin_now(const Algorithm& algorithm, const Transport& transport, const Call& call) {
  SharedGroup* const memory = transport.node_memory();
  if (memory == nullptr) return;
  memory->begin(call);
  if (memory->is_pace_old()) [[unlikely]]
    renew_pace_now(*memory);
  if (!algorithm.arrives) memory->meet_now();
}
/// Makes an average of the sum.
void divide(const Transport& transport, const Arguments& arguments);
inline void finish(const Transport& transport, const Arguments& arguments) {
  if (arguments.call.op == ReduceOp::average) divide(transport, arguments);
}

/// The place of `algorithm` in the list of its collective, from 1.
[[nodiscard]] std::uint8_t place_of(const Algorithm& algorithm, Collective collective) noexcept;

/// The name of the algorithm of a call that was signed so.
[[nodiscard]] std::string_view algorithm_name(const Call& call);

/// What an algorithm is chosen by, for `call` on `transport`.
[[nodiscard]] Problem problem_of(const Call& call, const Transport& transport);

}  // namespace chorus
