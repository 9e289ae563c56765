// SPDX-License-Identifier: Apache-2.0
#include <chorus/request.hpp>

#include "pending_call.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <utility>

namespace chorus {
namespace {

/// The place of the first of the pending requests that has ended; `pending` belongs to one of them.
template <class AnyRequest>
std::size_t first_ended(std::span<AnyRequest> requests, detail::PendingCall& pending) {
  Wait wait(pending.waiter());
  while (true) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].pending() && requests[i].test()) return i;
    }
    wait.rest(nullptr);  // each test has looked whether to go on
  }
}

}  // namespace

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

void wait_all(std::span<Request> requests) { std::ranges::for_each(requests, &Request::wait); }

std::optional<std::size_t> wait_any(std::span<Request> requests) {
  const auto first = std::ranges::find_if(requests, &Request::pending);
  return first != requests.end() ? std::optional(first_ended(requests, *first->call_)) : std::nullopt;
}

PersistentRequest::PersistentRequest(std::unique_ptr<detail::PendingCall> call) noexcept : call_(std::move(call)) {}

PersistentRequest::PersistentRequest(PersistentRequest&& other) noexcept = default;

PersistentRequest& PersistentRequest::operator=(PersistentRequest&& other) noexcept = default;

PersistentRequest::~PersistentRequest() = default;

void PersistentRequest::start() {
  if (!call_) {
    throw Error(ErrorCode::invalid_argument,
                "PersistentRequest::start: the request was moved from; start the one that it was moved to");
  }
  call_->start();
}

bool PersistentRequest::test() { return !call_ || call_->test(); }

void PersistentRequest::wait() {
  if (call_) call_->wait();
}

bool PersistentRequest::pending() const noexcept { return call_ != nullptr && call_->pending(); }

void start_all(std::span<PersistentRequest> requests) { std::ranges::for_each(requests, &PersistentRequest::start); }

void wait_all(std::span<PersistentRequest> requests) { std::ranges::for_each(requests, &PersistentRequest::wait); }

std::optional<std::size_t> wait_any(std::span<PersistentRequest> requests) {
  const auto first = std::ranges::find_if(requests, &PersistentRequest::pending);
  return first != requests.end() ? std::optional(first_ended(requests, *first->call_)) : std::nullopt;
}

}  // namespace chorus
