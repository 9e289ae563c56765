// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "repeatability.hpp"
#include "transport/communicator_state.hpp"
#include "tunings.hpp"

#include <chorus/options.hpp>

#include <memory>

namespace chorus {

enum class Form { blocking, request };

/// Throws detail::Refusal where what was named does not apply.
[[nodiscard]] detail::CommunicatorState::Choice choose_anew(detail::CommunicatorState& state, const Call& call,
                                                            const CollectiveOptions& options, Form form);
/// What the phases of an algorithm that was chosen for `call` are chosen by; as long as the communicator has that pace.
[[nodiscard]] inline const LinkModel& links_of(const detail::CommunicatorState& state, const Call& call) {
  return state.tuning->of(call).links;
}
/// From here on algorithms are chosen by `tunings`, until the pace of shared memory is measured again.
void choose_by(detail::CommunicatorState& state, std::shared_ptr<const Tunings> tunings);
/// For when the pace of shared memory was measured again.
void forget_choices(detail::CommunicatorState& state);

/// The algorithm for `call`, which is told what the settings ask of its bits and what algorithm it is carried out by.
/// Remembers its choices, as programs repeat their calls.
[[nodiscard]] inline const Algorithm& chosen_for(detail::CommunicatorState& state, Call& call,
                                                 const CollectiveOptions& options, Form form) {
  if (const Repeatability repeatability = wanted(options, state.settings()); repeatability != Repeatability::none) {
    call = asking_for(repeatability, call);
  }
  if (state.tuned_paces != state.paces()) forget_choices(state);
  detail::CommunicatorState::Choice& known = state.choices[kind_hash(call) % state.choices.size()];
  const bool named = !options.algorithm.empty();
  if (known.algorithm == nullptr || !same_kind(known.call, call) || known.request != (form == Form::request) ||
      known.named != named || (named && known.algorithm->name != options.algorithm)) {
    known = choose_anew(state, call, options, form);
  }
  call.algorithm = known.place;
  return *known.algorithm;
}

}  // namespace chorus
