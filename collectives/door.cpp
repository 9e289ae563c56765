// SPDX-License-Identifier: Apache-2.0
#include "door.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "repeatability.hpp"
#include "transport/native.hpp"
#include "transport/pending_call.hpp"
#include "vendor.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace chorus {
namespace {

using detail::CommunicatorState;

/// What rank 0's tuning file says, for `call`. The first look also checks the algorithms that the environment names.
const Tuning& tuning_of(CommunicatorState& state, const Call& call) {
  if (!state.tuning) {
    for (int index = 0; index < collective_count; ++index) {
      const Problem problem{.call = {.collective = static_cast<Collective>(index)}, .native = true};
      const Wishes wishes{.option = {}, .environment = state.settings().algorithm[static_cast<std::size_t>(index)]};
      static_cast<void>(choose(problem, wishes, Tuning()));
    }
    state.tuning = std::make_shared<const Tunings>(state.settings().tuning, state.pace(), state.crowded());
    state.tuned_pace = state.pace();
  }
  return static_cast<const Tunings*>(state.tuning.get())->of(call);
}

void check_timeout(const CommunicatorState& state, const Call& call, const CollectiveOptions& options) {
  if (options.timeout.count() >= 0) return;
  reject(state, call.collective, "option timeout is negative; pass 0 for that of the environment");
}

/// Checked, with the name as the table of algorithms has it, which lives for ever.
CollectiveOptions lasting_options(const CommunicatorState& state, const Call& call, const CollectiveOptions& options) {
  check_timeout(state, call, options);
  CollectiveOptions lasting = options;
  for (const Algorithm* algorithm : algorithms(call.collective)) {
    if (algorithm->name != options.algorithm) continue;
    lasting.algorithm = algorithm->name;
    return lasting;
  }
  if (options.algorithm.empty()) return lasting;
  try {
    static_cast<void>(choose({.call = call}, {options.algorithm, {}}, Tuning()));
  } catch (const Error& error) {
    reject(state, call.collective, error.message());
  }
  return lasting;
}

enum class Form { blocking, request };

[[gnu::noinline]] const Algorithm& choose_anew(CommunicatorState& state, const Call& call,
                                               const CollectiveOptions& options, Form form) {
  const std::string& environment = state.settings().algorithm[static_cast<std::size_t>(call.collective)];
  Problem problem = problem_of(call, state.transport());
  // A request starts when it is first driven: MPI's collective could then come after others on the user's communicator.
  if (form == Form::request && options.algorithm.empty()) problem.native = false;
  state.algorithm_name = algorithm_name;
  try {
    return *choose(problem, {options.algorithm, environment}, tuning_of(state, call)).algorithm;
  } catch (const Error& error) {
    throw detail::Refusal(error);
  }
}

/// The pace of shared memory was measured again.
[[gnu::noinline]] void forget_choices(CommunicatorState& state) {
  state.choices = {};
  state.tuning.reset();
  state.tuned_pace = state.pace();
}

/// The algorithm for `call`, which is told what the settings ask of its bits and what algorithm it is carried out by.
/// Remembers its choices, as programs repeat their calls.
const Algorithm& choose_for(CommunicatorState& state, Call& call, const CollectiveOptions& options, Form form) {
  if (const Repeatability repeatability = wanted(options, state.settings()); repeatability != Repeatability::none) {
    call = asking_for(repeatability, call);
  }
  if (state.tuned_pace != state.pace()) forget_choices(state);
  CommunicatorState::Choice& known = state.choices[kind_hash(call) % state.choices.size()];
  const bool named = !options.algorithm.empty();
  const auto* algorithm = static_cast<const Algorithm*>(known.algorithm);
  if (algorithm == nullptr || !same_kind(known.call, call) || known.request != (form == Form::request) ||
      known.named != named || (named && algorithm->name != options.algorithm)) {
    algorithm = &choose_anew(state, call, options, form);
    known = {call, algorithm, place_of(*algorithm, call.collective), named, form == Form::request};
  }
  call.algorithm = known.place;
  return *algorithm;
}

/// `owner` lives as long as the task.
Task<> whole(CommunicatorState& state, Arguments arguments, CollectiveOptions options,
             std::shared_ptr<const void> /*owner*/) {
  try {
    state.check_not_given_up();
    if (!state.ready()) co_await state.set_up();
    const Algorithm& algorithm = choose_for(state, arguments.call, options, Form::request);
    co_await carry_out(algorithm, state.transport(), arguments, state.settings().compare);
  } catch (...) {
    state.fail(arguments.call);
  }
}

/// True where a call may go on without being polled. Inside MPI's own collective nobody looks at the clock, hears of
/// others or drives requests that these wait for: it is polled where not all have arrived in shared memory before, and
/// where a limit is set.
bool need_not_be_polled(const CommunicatorState& state, const Algorithm& algorithm, const CollectiveOptions& options) {
  const Settings& settings = state.settings();
  return algorithm.arrives || (!settings.compare && options.timeout.count() == 0 && settings.timeout.count() == 0 &&
                               state.transport().nodes().empty());
}

}  // namespace

bool left_to_vendor(CommunicatorState& state, Call call) {
  if (!state.ready() || state.settings().timeout.count() > 0 || state.settings().compare) return false;
  return choose_for(state, call, {}, Form::blocking).run == vendor::run;
}

void complete(CommunicatorState& state, Arguments&& arguments, const CollectiveOptions& options) {
  const Entrance::Visit visit = state.visit(arguments.call);
  state.check_whole(arguments.call);
  check_timeout(state, arguments.call, options);
  try {
    state.prepare(options.timeout);
    if (!state.ready()) state.drive(state.set_up());
    const Algorithm& algorithm = choose_for(state, arguments.call, options, Form::blocking);
    if (algorithm.now != nullptr && need_not_be_polled(state, algorithm, options)) {
      begin_now(algorithm, state.transport(), arguments.call);
      algorithm.now(state.transport(), arguments);
      finish(state.transport(), arguments);
    } else {
      state.drive(carry_out(algorithm, state.transport(), arguments, state.settings().compare));
    }
  } catch (...) {
    state.fail(arguments.call);
  }
}

Request start(const Communicator& comm, const Arguments& arguments, const CollectiveOptions& options,
              std::shared_ptr<const void> owner) {
  CommunicatorState& state = comm.state();
  const Entrance::Visit visit = state.visit(arguments.call);
  state.check_whole(arguments.call);
  const CollectiveOptions lasting = lasting_options(state, arguments.call, options);
  return Request(std::make_unique<detail::PendingCall>(
      state.shared_from_this(), arguments.call, whole(state, arguments, lasting, std::move(owner)), options.timeout));
}

PersistentRequest prepare(const Communicator& comm, const Arguments& arguments, const CollectiveOptions& options,
                          std::shared_ptr<const void> owner) {
  const CollectiveOptions lasting = lasting_options(comm.state(), arguments.call, options);
  return PersistentRequest([=] { return start(comm, arguments, lasting, owner); });
}

void reject(const CommunicatorState& state, Collective collective, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} on rank {}: {}", name(collective), state.rank(), what));
}

void reject_op(const CommunicatorState& state, Collective collective, DataType type, ReduceOp op) {
  reject(state, collective,
         fmt::format("argument op: {} is not defined for {} elements; see chorus/reduce_op.hpp", name(op), name(type)));
}

void reject_root(const CommunicatorState& state, Collective collective, int root) {
  reject(state, collective,
         fmt::format("argument root is {}; the communicator has ranks 0 to {}", root, state.size() - 1));
}

void reject_counts(const CommunicatorState& state, Collective collective, const detail::Buffers& buffers,
                   const char* rule) {
  reject(state, collective,
         fmt::format("argument out has {} elements and in has {}; {}", buffers.out_count, buffers.in_count, rule));
}

void check_overlap(const CommunicatorState& state, Collective collective, const detail::Buffers& buffers) {
  const auto in = reinterpret_cast<std::uintptr_t>(buffers.in);
  const auto out = reinterpret_cast<std::uintptr_t>(buffers.out);
  const std::size_t element = buffers.element_bytes;
  if (buffers.in_count == 0 || buffers.out_count == 0) return;
  if (in + buffers.in_count * element <= out || out + buffers.out_count * element <= in) return;
  reject(state, collective, "arguments in and out overlap; pass one buffer to work in place, or two apart");
}

Arguments arguments_of(Collective collective, const detail::Buffers& buffers, std::size_t count, int root) {
  const bool opaque = buffers.type == DataType::opaque;
  return {.call = {.collective = collective,
                   .type = buffers.type,
                   .root = root,
                   .count = count,
                   .opaque_bytes = opaque ? static_cast<std::uint32_t>(buffers.element_bytes) : 0},
          .in = static_cast<const std::byte*>(buffers.in),
          .out = static_cast<std::byte*>(buffers.out)};
}

Arguments arguments_of(Collective collective, const detail::Buffers& buffers, std::size_t count,
                       const detail::Operation& operation, int root) {
  Arguments arguments = arguments_of(collective, buffers, count, root);
  arguments.join = operation.join;
  arguments.function = operation.function;
  arguments.call.op = operation.join == nullptr ? operation.op
                      : operation.commutative   ? commutative_function
                                                : ordered_function;
  return arguments;
}

}  // namespace chorus
