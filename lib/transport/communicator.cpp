// SPDX-License-Identifier: Apache-2.0
#include <chorus/communicator.hpp>
#include <chorus/request.hpp>

#include "transport/pending_call.hpp"

#include <utility>

namespace chorus {

Communicator::Communicator(std::shared_ptr<detail::CommunicatorState> state) noexcept : state_(std::move(state)) {}

int Communicator::rank() const noexcept { return state_->transport().rank(); }

int Communicator::size() const noexcept { return state_->transport().size(); }

Request::Request() noexcept = default;

Request::Request(std::unique_ptr<detail::PendingCall> call) noexcept : call_(std::move(call)) {}

Request::Request(Request&& other) noexcept = default;

Request& Request::operator=(Request&& other) noexcept = default;

Request::~Request() = default;

bool Request::test() {
  if (!call_) return true;
  if (!call_->test()) return false;
  call_.reset();
  return true;
}

void Request::wait() {
  if (!call_) return;
  call_->wait();
  call_.reset();
}

}  // namespace chorus
