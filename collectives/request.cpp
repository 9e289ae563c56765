// SPDX-License-Identifier: Apache-2.0
#include <chorus/request.hpp>

#include "pending_call.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <utility>

namespace chorus {

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

void Request::wait() {
  if (!call_) return;
  call_->wait();
  call_.reset();
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

PersistentRequest::PersistentRequest(std::unique_ptr<detail::PendingCall> call) noexcept : call_(std::move(call)) {}

PersistentRequest::PersistentRequest(PersistentRequest&& other) noexcept = default;

PersistentRequest& PersistentRequest::operator=(PersistentRequest&& other) noexcept = default;

PersistentRequest::~PersistentRequest() = default;

void PersistentRequest::start() {
  if (!call_) throw Error(ErrorCode::invalid_argument, "PersistentRequest::start: it was moved from");
  if (call_->pending()) {
    throw Error(ErrorCode::invalid_argument, "PersistentRequest::start: the request is under way; wait for it first");
  }
  call_->start();
}

bool PersistentRequest::test() { return !call_ || call_->test(); }

void PersistentRequest::wait() {
  if (call_) call_->wait();
}

}  // namespace chorus
