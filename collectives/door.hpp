// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/lengths.hpp"
#include "choose.hpp"
#include "device/device_memory.hpp"
#include "device_call.hpp"
#include "kernels/kernels.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/detail/operation.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

#include <memory>
#include <string>

namespace chorus {

// What the doors of all collectives do alike: a door checks its arguments and makes a Call and Arguments of them; what
// follows is the same for all.

/// Carries out a call that has been let in; returns when this rank has its result.
void run_call(detail::CommunicatorState& state, Arguments& arguments, const CollectiveOptions& options);

/// Lets it in and carries it out.
void complete(detail::CommunicatorState& state, Arguments&& arguments, const CollectiveOptions& options);

/// Starts it, and keeps `owner` (may be null) until it is complete.
[[nodiscard]] Request start(const Communicator& comm, const Arguments& arguments, const CollectiveOptions& options,
                            std::shared_ptr<const void> owner = nullptr);

/// Prepares it, to be started later and more than once.
[[nodiscard]] PersistentRequest prepare(const Communicator& comm, const Arguments& arguments,
                                        const CollectiveOptions& options, std::shared_ptr<const void> owner = nullptr);

// The checks; each throws Error{invalid_argument} naming the collective, the argument, the rank and the remedy.

[[noreturn]] void reject(const detail::CommunicatorState& state, Collective collective, const std::string& what,
                         ErrorCode code = ErrorCode::invalid_argument);
[[noreturn]] void reject_op(const detail::CommunicatorState& state, Collective collective, DataType type, ReduceOp op);
[[noreturn]] void reject_root(const detail::CommunicatorState& state, Collective collective, int root);
[[noreturn]] void reject_counts(const detail::CommunicatorState& state, Collective collective,
                                const detail::Buffers& buffers, const char* rule);

inline void check_op(const detail::CommunicatorState& state, Collective collective, DataType type,
                     const detail::Operation& operation) {
  if (operation.join == nullptr && !kernels::supports(type, operation.op)) {
    reject_op(state, collective, type, operation.op);
  }
}
inline void check_root(const detail::CommunicatorState& state, Collective collective, int root) {
  if (root < 0 || root >= state.size()) reject_root(state, collective, root);
}
/// Which buffers of a call are read or written on this rank.
struct Used {
  bool in = true;
  bool out = true;
};
[[nodiscard]] constexpr Used used_on(Collective collective, bool is_root) noexcept {
  return {.in = is_root || (collective != Collective::scatter && collective != Collective::scatterv),
          .out = is_root || (collective != Collective::reduce && collective != Collective::gather &&
                             collective != Collective::gatherv)};
}
/// A buffer that has elements and is used must not be null.
void reject_null(const detail::CommunicatorState& state, Collective collective, const detail::Buffers& buffers,
                 Used used);
inline void check_pointers(const detail::CommunicatorState& state, Collective collective,
                           const detail::Buffers& buffers, Used used) {
  if ((used.in && buffers.in == nullptr) || (used.out && buffers.out == nullptr)) [[unlikely]]
    reject_null(state, collective, buffers, used);
}
/// No buffer that is used may be longer than an address space, so that its bytes can be counted.
void reject_too_long(const detail::CommunicatorState& state, Collective collective, const detail::Buffers& buffers,
                     Used used);
inline void check_lengths(const detail::CommunicatorState& state, Collective collective, const detail::Buffers& buffers,
                          Used used = {}) {
  if (!is_short(buffers.in_count | buffers.out_count)) [[unlikely]]
    reject_too_long(state, collective, buffers, used);
}
/// True where one buffer is both.
[[nodiscard]] inline bool is_in_place(const detail::Buffers& buffers) noexcept {
  return buffers.in == buffers.out && buffers.in_count == buffers.out_count;
}
/// The lengths of two buffers that are used must be right; `rule` says what is.
inline void check_counts(const detail::CommunicatorState& state, Collective collective, const detail::Buffers& buffers,
                         bool right, const char* rule) {
  check_lengths(state, collective, buffers);
  if (!right) reject_counts(state, collective, buffers, rule);
}
void check_overlap(const detail::CommunicatorState& state, Collective collective, const detail::Buffers& buffers);

/// The arguments of a call of `count` elements a block whose lengths are checked, without an operation or by
/// `operation`; checks the pointers and, where `check_counts` has not, the lengths.
[[nodiscard]] inline Arguments arguments_of(const detail::CommunicatorState& state, Collective collective,
                                            const detail::Buffers& buffers, std::size_t count, int root = 0) {
  const Used used = used_on(collective, state.rank() == root);
  check_lengths(state, collective, buffers, used);
  check_pointers(state, collective, buffers, used);
  const bool opaque = buffers.type == DataType::opaque;
  Arguments arguments{.call = {.collective = collective,
                               .type = buffers.type,
                               .root = root,
                               .count = count,
                               .opaque_bytes = opaque ? static_cast<std::uint32_t>(buffers.element_bytes) : 0},
                      .in = static_cast<const std::byte*>(buffers.in),
                      .out = static_cast<std::byte*>(buffers.out)};
  if (buffers.stream != nullptr || may_be_on_device(buffers.in) || may_be_on_device(buffers.out)) [[unlikely]] {
    check_place(state, buffers, used, arguments);
  }
  return arguments;
}
[[nodiscard]] inline Arguments arguments_of(const detail::CommunicatorState& state, Collective collective,
                                            const detail::Buffers& buffers, std::size_t count,
                                            const detail::Operation& operation, int root = 0) {
  Arguments arguments = arguments_of(state, collective, buffers, count, root);
  arguments.join = operation.join;
  arguments.function = operation.function;
  arguments.multiply = operation.multiply;
  arguments.call.op = operation.join == nullptr ? operation.op
                      : operation.commutative   ? commutative_function
                                                : ordered_function;
  return arguments;
}

}  // namespace chorus
