// SPDX-License-Identifier: Apache-2.0
#include <chorus/communicator.hpp>
#include <chorus/request.hpp>

#include "transport/pending_call.hpp"

#include <chorus/error.hpp>

#include <algorithm>
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

bool Request::pending() const noexcept { return call_ != nullptr && call_->pending(); }

bool Request::test() {
  if (!call_) return true;
  if (!call_->test()) return false;
  call_.reset();
  return true;
}

void wait_all(std::span<Request> requests) {
  for (Request& request : requests) request.wait();
}

std::optional<std::size_t> wait_any(std::span<Request> requests) {
  const auto first = std::ranges::find_if(requests, &Request::pending);
  if (first == requests.end()) return std::nullopt;
  Wait wait(first->call_->waiter());
  while (true) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].pending() && requests[i].test()) return i;
    }
    wait.rest(nullptr);  // each test has looked whether to go on
  }
}

PersistentRequest::PersistentRequest(std::function<Request()> starter) noexcept : starter_(std::move(starter)) {}

void PersistentRequest::start() {
  if (!starter_) throw Error(ErrorCode::invalid_argument, "PersistentRequest::start: it was moved from");
  if (request_.pending()) {
    throw Error(ErrorCode::invalid_argument, "PersistentRequest::start: the request is under way; wait for it first");
  }
  request_ = starter_();
}

void Request::wait() {
  if (!call_) return;
  call_->wait();
  call_.reset();
}

}  // namespace chorus
