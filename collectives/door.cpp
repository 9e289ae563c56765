// SPDX-License-Identifier: Apache-2.0
#include "door.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "chosen.hpp"
#include "device_call.hpp"
#include "pending_call.hpp"
#include "transport/native.hpp"
#include "vendor.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

namespace {

using detail::CommunicatorState;

void check_timeout(const CommunicatorState& state, const Call& call, const CollectiveOptions& options) {
  if (options.timeout.count() >= 0) return;
  reject(state, call.collective, "option timeout is negative; pass 0 for that of the environment");
}

/// Checked, with the name as the table of algorithms has it, which lives for ever.
CollectiveOptions lasting_options(const CommunicatorState& state, const Call& call, const CollectiveOptions& options) {
  check_timeout(state, call, options);
  CollectiveOptions lasting = options;
  if (options.algorithm.empty()) return lasting;
  for (const Algorithm* algorithm : algorithms(call.collective)) {
    if (algorithm->name != options.algorithm) continue;
    lasting.algorithm = algorithm->name;
    return lasting;
  }
  try {
    static_cast<void>(choose({.call = call}, {options.algorithm, {}}, Tuning()));
  } catch (const Error& error) {
    reject(state, call.collective, error.message());
  }
  return lasting;
}

/// Not started.
std::unique_ptr<detail::PendingCall> pending_call(CommunicatorState& state, const Arguments& arguments,
                                                  const CollectiveOptions& options, std::shared_ptr<const void> owner) {
  return std::make_unique<detail::PendingCall>(state.shared_from_this(), arguments,
                                               lasting_options(state, arguments.call, options), std::move(owner));
}

/// True where a call may go on without being polled. Inside MPI's own collective nobody looks at the clock, hears of
/// others or drives requests that these wait for: it is polled where not all have arrived in shared memory before, and
/// where a limit is set.
bool need_not_be_polled(const CommunicatorState& state, const Algorithm& algorithm, const CollectiveOptions& options) {
  const Settings& settings = state.settings();
  return algorithm.arrives || (!settings.compare && options.timeout.count() == 0 && settings.timeout.count() == 0 &&
                               state.transport().nodes().empty());
}

/// True where a call names the vendor's collective on a communicator that does not know the vendor's.
bool wants_unknown_native(const CommunicatorState& state, const CollectiveOptions& options) {
  return !options.algorithm.empty() && state.transport().native() == nullptr &&
         options.algorithm == vendor::native_name;
}

/// Carries the call out as a task.
void drive(CommunicatorState& state, const Algorithm& algorithm, const Arguments& arguments) {
  state.begin_call();
  state.drive(carry_out(algorithm, state.transport(), arguments, state.settings().compare));
}

void run_on_device(CommunicatorState& state, Arguments& arguments, const CollectiveOptions& options) {
  if (!prepare_device(state, arguments)) return;
  const Algorithm& algorithm = chosen_for(state, arguments.call, options, Form::blocking);
  arguments.links = &links_of(state, arguments.call);
  check_stream(state, algorithm, arguments);
  if (!algorithm.queues()) {
    drive(state, algorithm, arguments);
    return state.check_devices();  // by whose failure streams may have gone on too early
  }
  if (state.settings().compare && state.size() > 1) {
    state.drive(compare_with_previous(state.transport(), arguments.call, arguments.purpose));
  }
  state.begin_call();
  if (SharedGroup* const memory = state.transport().node_memory()) memory->begin_in_stream();
  arguments.limit = state.limit();
  if (!algorithm.may_wait(state.transport(), arguments)) return algorithm.now(state.transport(), arguments);
  state.drive(algorithm.run(state.transport(), arguments));
}

/// The argument that is wrong where `in`, `out` or both are.
const char* name_of_wrong(Collective collective, bool in, bool out) {
  if (collective == Collective::bcast) return "data";
  return in && out ? "inout" : in ? "in" : "out";
}

}  // namespace

bool left_to_vendor(CommunicatorState& state, Call call) {
  // Inside the vendor's call nothing tells who does not come.
  const bool heard = state.settings().timeout.count() > 0 || !state.transport().nodes().empty();
  if (!state.ready() || heard || state.settings().compare) return false;
  return chosen_for(state, call, {}, Form::blocking).run == vendor::run;
}

void run_call(CommunicatorState& state, Arguments& arguments, const CollectiveOptions& options) {
  try {
    state.prepare(options.timeout);
    if (!state.ready()) state.drive(state.set_up(arguments.call));
    if (arguments.call.memory == Memory::device) return run_on_device(state, arguments, options);
    if (wants_unknown_native(state, options)) state.drive(state.find_native());
    const Algorithm& algorithm = chosen_for(state, arguments.call, options, Form::blocking);
    arguments.links = &links_of(state, arguments.call);
    if (algorithm.now != nullptr && need_not_be_polled(state, algorithm, options)) {
      state.begin_call();
      begin_now(algorithm, state.transport(), arguments.call);
      algorithm.now(state.transport(), arguments);
      finish(state.transport(), arguments);
    } else {
      drive(state, algorithm, arguments);
    }
  } catch (...) {
    state.fail(arguments.call);
  }
}

void complete(CommunicatorState& state, Arguments&& arguments, const CollectiveOptions& options) {
  arguments.call.purpose = state.purpose().number;
  arguments.purpose = state.purpose().text;
  const Entrance::Visit visit = state.visit(arguments.call);
  state.check_whole(arguments.call);
  check_timeout(state, arguments.call, options);
  run_call(state, arguments, options);
}

Request start(const Communicator& comm, const Arguments& arguments, const CollectiveOptions& options,
              std::shared_ptr<const void> owner) {
  auto call = pending_call(comm.state(), arguments, options, std::move(owner));
  call->start();
  return Request(std::move(call));
}

PersistentRequest prepare(const Communicator& comm, const Arguments& arguments, const CollectiveOptions& options,
                          std::shared_ptr<const void> owner) {
  return PersistentRequest(pending_call(comm.state(), arguments, options, std::move(owner)));
}

void reject(const CommunicatorState& state, Collective collective, const std::string& what, ErrorCode code) {
  throw Error(code, fmt::format("{} on {}: {}", name(collective), state.who(), what));
}

void reject_op(const CommunicatorState& state, Collective collective, DataType type, ReduceOp op) {
  const auto number = static_cast<int>(op);
  if (number >= reduce_op_count) {
    reject(state, collective, fmt::format("argument op is {}, which is no ReduceOp; see chorus/reduce_op.hpp", number));
  }
  std::vector<std::string_view> defined;
  for (int other = 0; other < reduce_op_count; ++other) {
    if (kernels::supports(type, static_cast<ReduceOp>(other))) defined.push_back(name(static_cast<ReduceOp>(other)));
  }
  reject(state, collective,
         fmt::format("argument op: {} is not defined for {} elements; there are {}", name(op), name(type),
                     joined(defined)));
}

void reject_root(const CommunicatorState& state, Collective collective, int root) {
  reject(
      state, collective,
      fmt::format("argument root is {}; the communicator has ranks 0 to {}: pass one of them, the same on every rank",
                  root, state.size() - 1));
}

void reject_too_long(const CommunicatorState& state, Collective collective, const detail::Buffers& buffers, Used used) {
  const bool in = used.in && is_too_long(buffers.in_count, buffers.element_bytes);
  const bool out = used.out && is_too_long(buffers.out_count, buffers.element_bytes);
  if (!in && !out) return;
  const bool one = is_in_place(buffers);
  reject(state, collective,
         too_long(name_of_wrong(collective, in || one, one || !in), in ? buffers.in_count : buffers.out_count,
                  buffers.element_bytes));
}

void reject_null(const CommunicatorState& state, Collective collective, const detail::Buffers& buffers, Used used) {
  const bool no_in = used.in && buffers.in == nullptr && buffers.in_count > 0;
  const bool no_out = used.out && buffers.out == nullptr && buffers.out_count > 0;
  if (!no_in && !no_out) return;
  reject(state, collective,
         fmt::format("argument {} is a null pointer with {} elements; pass the data, or an empty range",
                     name_of_wrong(collective, no_in, no_out), no_in ? buffers.in_count : buffers.out_count));
}

void reject_counts(const CommunicatorState& state, Collective collective, const detail::Buffers& buffers,
                   const char* rule) {
  if (is_in_place(buffers)) {
    reject(state, collective,
           fmt::format("argument inout, which is in and out, has {} elements; {}", buffers.in_count, rule));
  }
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

}  // namespace chorus
