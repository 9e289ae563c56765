// SPDX-License-Identifier: Apache-2.0
#include "chosen.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "choose.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace chorus {

using detail::CommunicatorState;

namespace {

/// Once in a process.
void warn(const std::string& text) {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) fmt::print(stderr, "chorus: warning: {}\n", text);
}

/// Once in a process for each collective.
void note(const Call& call, const Choice& choice) {
  static std::array<std::atomic<bool>, collective_count> noted{};
  if (noted[static_cast<std::size_t>(call.collective)].exchange(true)) return;
  fmt::print(stderr, "chorus: {}: {}: {}\n", describe(call), choice.algorithm->name, choice.reason);
}

/// What rank 0's tuning file says, for `call`. The first look also checks the algorithms that the environment names.
const Tuning& tuning_of(CommunicatorState& state, const Call& call) {
  if (!state.tuning) {
    for (int index = 0; index < collective_count; ++index) {
      const Problem problem{.call = {.collective = static_cast<Collective>(index)}, .native = true};
      const Wishes wishes{.option = {}, .environment = state.settings().algorithm[static_cast<std::size_t>(index)]};
      static_cast<void>(choose(problem, wishes, Tuning()));
    }
    state.tuning = Tunings::shared(state.settings().tuning, state.pace(), state.network(), state.crowded(),
                                   state.transport().device_pace());
    if (state.rank() == 0 && !state.tuning->warning().empty()) warn(state.tuning->warning());
    state.tuned_paces = state.paces();
  }
  return state.tuning->of(call);
}

}  // namespace

CommunicatorState::Choice choose_anew(CommunicatorState& state, const Call& call, const CollectiveOptions& options,
                                      Form form) {
  const std::string& environment = state.settings().algorithm[static_cast<std::size_t>(call.collective)];
  Problem problem = problem_of(call, state.transport());
  // A request starts when it is first driven: MPI's collective could then come after others on the user's communicator.
  if (form == Form::request && options.algorithm.empty()) problem.native = false;
  state.algorithm_name = algorithm_name;
  try {
    const Wishes wishes{options.algorithm, environment, state.transport().no_device_native()};
    const Choice choice = choose(problem, wishes, tuning_of(state, call));
    if (choice.passed_over && state.settings().log && state.rank() == 0) note(call, choice);
    const Algorithm& best = *choice.algorithm;
    return {call, &best, place_of(best, call.collective), !options.algorithm.empty(), form == Form::request};
  } catch (const Error& error) {
    throw detail::Refusal(error);
  }
}

void choose_by(CommunicatorState& state, std::shared_ptr<const Tunings> tunings) {
  forget_choices(state);
  state.tuning = std::move(tunings);
}

void forget_choices(CommunicatorState& state) {
  state.choices = {};
  state.tuning.reset();
  state.tuned_paces = state.paces();
}

}  // namespace chorus
