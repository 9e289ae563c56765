// SPDX-License-Identifier: Apache-2.0
#include "transport/pending_call.hpp"

#include <utility>

namespace chorus::detail {

PendingCall::PendingCall(std::shared_ptr<CommunicatorState> state, const Call& call, Task<> task,
                         std::chrono::nanoseconds timeout)
    : state_(std::move(state)), call_(call), parked_(std::move(task)), polls_(*state_), timeout_(timeout) {
  state_->park(parked_);
}

PendingCall::~PendingCall() {
  if (!told_) state_->wait_for(parked_, timeout_);
}

bool PendingCall::test() {
  const Entrance::Visit visit = state_->visit(call_);
  if (!state_->poll(parked_, polls_, timeout_)) return false;
  tell();
  return true;
}

void PendingCall::wait() {
  const Entrance::Visit visit = state_->visit(call_);
  state_->wait_for(parked_, timeout_);
  tell();
}

void PendingCall::tell() {
  told_ = true;
  parked_.operation().result();
}

}  // namespace chorus::detail
