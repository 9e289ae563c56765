// SPDX-License-Identifier: Apache-2.0
#include "task/operation.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <string_view>
#include <utility>

namespace chorus {

std::string PolledEvent::describe() const {
  const std::string_view file = where_.file;
  const std::size_t folder = file.rfind('/', file.rfind('/') == file.npos ? 0 : file.rfind('/') - 1);
  return fmt::format("{} at {}:{}", what(), folder == file.npos ? file : file.substr(folder + 1), where_.line);
}

bool PolledEvent::suspend(Operation& operation, std::coroutine_handle<> task) {
  if (operation.cancelled_) {
    abandon();
    error_ = operation.cancelled_;
    return false;
  }
  task_ = task;
  operation.append(*this);
  return true;
}

Operation::Operation(Task<> task) noexcept : task_(std::move(task)) {}

Operation::~Operation() {
  if (started_ && !done()) cancel(std::make_exception_ptr(Error(ErrorCode::broken, "the collective was given up")));
}

void Operation::append(PolledEvent& event) noexcept {
  event.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &event;
  last_ = &event;
  ++waiting_;
}

PolledEvent& Operation::take_first() noexcept {
  PolledEvent& event = *first_;
  first_ = event.next_;
  if (first_ == nullptr) last_ = nullptr;
  --waiting_;
  return event;
}

bool Operation::step() {
  if (!started_) {
    started_ = true;
    task_.handle().promise().operation = this;
    task_.handle().resume();
    return true;
  }
  bool moved = false;
  for (std::size_t polls = waiting_; polls > 0 && first_ != nullptr; --polls) {
    PolledEvent& event = take_first();
    bool ready = true;
    try {
      ready = event.poll();
    } catch (...) {
      event.error_ = std::current_exception();
    }
    if (ready) {
      moved = true;
      event.task_.resume();
    } else {
      append(event);
    }
  }
  return moved;
}

void Operation::result() const { Task<>::result(task_.handle().promise()); }

void Operation::cancel(const std::exception_ptr& error) {
  cancelled_ = error;
  if (!started_) step();
  while (first_ != nullptr) {
    PolledEvent& event = take_first();
    event.abandon();
    event.error_ = error;
    event.task_.resume();
  }
}

}  // namespace chorus
