// SPDX-License-Identifier: Apache-2.0
#include "transport/pending_call.hpp"

#include <utility>

namespace chorus::detail {

PendingCall::PendingCall(std::shared_ptr<CommunicatorState> state, const Call& call, Task<> task,
                         std::chrono::nanoseconds timeout)
    : state_(std::move(state)), call_(call), parked_(std::move(task)), timeout_(timeout) {
  state_->park(parked_);
}

PendingCall::~PendingCall() {
  if (told_) return;
  try {
    finish();
  } catch (const std::exception&) {  // the communicator is broken and says so at its next call
  }
}

bool PendingCall::test() {
  const Entrance::Visit visit = state_->visit(call_);
  state_->progress();
  if (!parked_.finished()) return false;
  finish();
  return true;
}

void PendingCall::wait() {
  const Entrance::Visit visit = state_->visit(call_);
  finish();
}

void PendingCall::finish() {
  if (std::exchange(told_, true)) return;
  try {
    state_->wait_for(parked_, timeout_);
  } catch (...) {
    state_->fail(call_);
  }
}

}  // namespace chorus::detail
