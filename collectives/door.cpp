// SPDX-License-Identifier: Apache-2.0
#include "door.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "kernels/kernels.hpp"
#include "transport/pending_call.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace chorus {
namespace {

using detail::CommunicatorState;

[[noreturn]] void reject(const CommunicatorState& state, Collective collective, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} on rank {}: {}", name(collective), state.rank(), what));
}

/// The name as the table of algorithms has it, which lives for ever.
std::string_view lasting_name(const Call& call, std::string_view wish) {
  for (const Algorithm* algorithm : algorithms(call.collective)) {
    if (algorithm->name == wish) return algorithm->name;
  }
  return {};
}

/// What rank 0's tuning file says. The first look at it also checks the algorithms that the environment names.
const Tuning& tuning_of(CommunicatorState& state) {
  if (!state.tuning) {
    for (int index = 0; index < collective_count; ++index) {
      const Problem problem{.call = {.collective = static_cast<Collective>(index)}, .native = true};
      const Wishes wishes{.option = {}, .environment = state.settings().algorithm[static_cast<std::size_t>(index)]};
      static_cast<void>(choose(problem, wishes, Tuning()));
    }
    state.tuning = std::make_shared<const Tuning>(Tuning::parse(state.settings().tuning, LinkModel::of(state.pace())));
  }
  return *static_cast<const Tuning*>(state.tuning.get());
}

Task<> whole(CommunicatorState& state, Arguments arguments, CollectiveOptions options) {
  if (!state.ready()) co_await state.set_up();
  const Algorithm& algorithm = chosen(state, arguments.call, options, Form::request);
  co_await carry_out(algorithm, state.transport(), arguments, state.settings().compare);
}

}  // namespace

const Algorithm& chosen(CommunicatorState& state, const Call& call, const CollectiveOptions& options, Form form) {
  Call key = call;
  key.root = 0;  // does not matter to the choice
  CommunicatorState::Choice& known = state.choices[signature(key) % state.choices.size()];
  const bool named = !options.algorithm.empty();
  const auto* const last = static_cast<const Algorithm*>(known.algorithm);
  if (last != nullptr && known.call == key && known.request == (form == Form::request) && known.named == named &&
      (!named || last->name == options.algorithm)) {
    return *last;
  }
  const std::string& environment = state.settings().algorithm[static_cast<std::size_t>(call.collective)];
  Problem problem = problem_of(call, state.transport());
  // A request starts when it is first driven: MPI's collective could then come after others on the user's communicator.
  if (form == Form::request && !named) problem.native = false;
  const Choice choice = choose(problem, {options.algorithm, environment}, tuning_of(state));
  state.algorithm_name = algorithm_name;
  known = {key, choice.algorithm, named, form == Form::request};
  return *choice.algorithm;
}

void complete(CommunicatorState& state, const Arguments& arguments, const CollectiveOptions& options) {
  const Entrance::Visit visit = state.visit(arguments.call);
  state.check_whole(arguments.call);
  try {
    if (!state.ready()) state.drive(state.set_up(), options.timeout);
    const Algorithm& algorithm = chosen(state, arguments.call, options, Form::blocking);
    // Inside MPI's own collective nobody looks at the clock or hears of others: where that may end it, it is polled.
    const bool compare = state.settings().compare;
    const bool ends = compare || options.timeout.count() > 0 || state.settings().timeout.count() > 0;
    if (algorithm.now != nullptr && (algorithm.arrives || !ends)) {
      state.prepare(options.timeout);
      carry_out_now(algorithm, state.transport(), arguments);
    } else {
      state.drive(carry_out(algorithm, state.transport(), arguments, compare), options.timeout);
    }
  } catch (...) {
    state.fail(arguments.call);
  }
}

Request start(const Communicator& comm, const Arguments& arguments, const CollectiveOptions& options) {
  CommunicatorState& state = comm.state();
  const Entrance::Visit visit = state.visit(arguments.call);
  state.check_whole(arguments.call);
  CollectiveOptions lasting = options;
  lasting.algorithm = lasting_name(arguments.call, options.algorithm);
  if (lasting.algorithm.empty() && !options.algorithm.empty()) {
    try {  // throws, as there is no such algorithm
      static_cast<void>(choose({.call = arguments.call}, {options.algorithm, {}}, Tuning()));
    } catch (...) {
      state.fail(arguments.call);
    }
  }
  return Request(std::make_unique<detail::PendingCall>(state.shared_from_this(), arguments.call,
                                                       whole(state, arguments, lasting), options.timeout));
}

void check_op(const CommunicatorState& state, Collective collective, DataType type, ReduceOp op) {
  if (kernels::supports(type, op)) return;
  reject(state, collective,
         fmt::format("argument op: {} is not defined for {} elements; see chorus/reduce_op.hpp", name(op), name(type)));
}

void check_root(const CommunicatorState& state, Collective collective, int root) {
  if (root >= 0 && root < state.size()) return;
  reject(state, collective,
         fmt::format("argument root is {}; the communicator has ranks 0 to {}", root, state.size() - 1));
}

void check_counts(const CommunicatorState& state, Collective collective, const detail::Buffers& buffers, bool right,
                  const char* rule) {
  if (right) return;
  reject(state, collective,
         fmt::format("argument out has {} elements and in has {}; {}", buffers.out_count, buffers.in_count, rule));
}

void check_overlap(const CommunicatorState& state, Collective collective, const detail::Buffers& buffers) {
  const auto in = reinterpret_cast<std::uintptr_t>(buffers.in);
  const auto out = reinterpret_cast<std::uintptr_t>(buffers.out);
  const std::size_t element = size_of(buffers.type);
  if (in + buffers.in_count * element <= out || out + buffers.out_count * element <= in) return;
  reject(state, collective, "arguments in and out overlap; pass one buffer to work in place, or two apart");
}

}  // namespace chorus
