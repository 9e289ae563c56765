// SPDX-License-Identifier: Apache-2.0
#include "pending_call.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "chosen.hpp"
#include "door.hpp"

#include <fmt/format.h>

#include <utility>

namespace chorus::detail {

PendingCall::PendingCall(std::shared_ptr<CommunicatorState> state, const Arguments& arguments,
                         const CollectiveOptions& options, std::shared_ptr<const void> owner)
    : state_(std::move(state)), arguments_(arguments), options_(options), owner_(std::move(owner)) {
  arguments_.call.purpose = state_->purpose().number;
  arguments_.purpose = state_->purpose().text;
}

PendingCall::~PendingCall() {
  try {
    if (stage_ == Stage::given) take();
  } catch (...) {  // the communicator says it
  }
  if (stage_ == Stage::parked) state_->wait_for(*parked_, options_.timeout);
}

void PendingCall::start() {
  if (pending()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("PersistentRequest::start of {} on {}: the request is under way; call its wait, or its "
                            "test until that gives true, first",
                            chorus::describe(arguments_.call), state_->who()));
  }
  const Entrance::Visit visit = state_->visit(arguments_.call);
  state_->check_whole(arguments_.call);
  error_ = nullptr;
  if (state_->size() == 1) return carry_out_alone();
  try {
    if (!give()) park(whole());
  } catch (...) {
    state_->fail(arguments_.call);
  }
}

void PendingCall::carry_out_alone() {
  try {
    run_call(*state_, arguments_, options_);
  } catch (...) {
    error_ = std::current_exception();
  }
  stage_ = Stage::done;
}

bool PendingCall::give() {
  if (!state_->may_give()) return false;
  SharedGroup* const memory = state_->transport().shared();
  if (memory == nullptr || memory->makes_pace_old(arguments_.call)) return false;
  if (halves_ == nullptr || chosen_by_ != state_->paces()) {
    try {
      halves_ = chosen_for(*state_, arguments_.call, options_, Form::request).halves;
      chosen_by_ = state_->paces();
    } catch (const Refusal&) {
      return false;  // said where the call is waited for
    }
    if (halves_ == nullptr) return false;
  }
  const std::optional<Round> round = halves_->give(state_->transport(), arguments_);
  if (!round) return false;
  round_ = *round;
  stage_ = Stage::given;
  state_->has_given(*this);
  return true;
}

void PendingCall::take() {
  stage_ = Stage::ended;
  try {
    state_->begin_to_take(options_.timeout);
    halves_->take(state_->transport(), arguments_, round_);
    finish(state_->transport(), arguments_);
  } catch (...) {
    state_->fail(arguments_.call);
  }
}

Task<> PendingCall::whole() {
  try {
    state_->check_not_given_up();
    if (!state_->ready()) co_await state_->set_up(arguments_.call, false);
    const Algorithm& algorithm = chosen_for(*state_, arguments_.call, options_, Form::request);
    arguments_.links = &links_of(*state_, arguments_.call);
    state_->begin_call();
    co_await carry_out(algorithm, state_->transport(), arguments_, state_->settings().compare);
  } catch (...) {
    state_->fail(arguments_.call);
  }
}

Task<> PendingCall::rest() {
  try {
    state_->check_not_given_up();
    co_await halves_->take_later(state_->transport(), arguments_, round_);
    finish(state_->transport(), arguments_);
  } catch (...) {
    state_->fail(arguments_.call);
  }
}

void PendingCall::put_off() { park(rest()); }

void PendingCall::park(Task<> task) {
  parked_.emplace(std::move(task));
  polls_.emplace(*state_);
  state_->park(*parked_);
  stage_ = Stage::parked;
}

template <class Result>
void PendingCall::tell(Result result) {
  try {
    result();
  } catch (...) {
    error_ = std::current_exception();
    throw;
  }
}

bool PendingCall::test() {
  if (stage_ == Stage::done) stage_ = Stage::ended;
  if (pending()) {
    const Entrance::Visit visit = state_->visit(arguments_.call);
    if (stage_ == Stage::given) state_->put_off();
    if (!state_->poll(*parked_, *polls_, options_.timeout)) return false;
    stage_ = Stage::ended;
    tell([this] { parked_->operation().result(); });
  }
  if (error_) std::rethrow_exception(error_);
  return true;
}

void PendingCall::wait() {
  if (stage_ == Stage::done) stage_ = Stage::ended;
  if (pending()) {
    const Entrance::Visit visit = state_->visit(arguments_.call);
    if (stage_ == Stage::given) return tell([this] { take(); });
    state_->wait_for(*parked_, options_.timeout);
    stage_ = Stage::ended;
    tell([this] { parked_->operation().result(); });
  }
  if (error_) std::rethrow_exception(error_);
}

}  // namespace chorus::detail
