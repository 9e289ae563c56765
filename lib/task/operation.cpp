// SPDX-License-Identifier: Apache-2.0
#include "task/operation.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <string_view>
#include <utility>

namespace chorus {

std::string Leaf::describe() const {
  const std::string_view file = where_.file;
  const std::size_t folder = file.rfind('/', file.rfind('/') == file.npos ? 0 : file.rfind('/') - 1);
  return fmt::format("{} at {}:{}", what(), folder == file.npos ? file : file.substr(folder + 1), where_.line);
}

bool Leaf::suspend(Operation& operation, std::coroutine_handle<> task) {
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

void Operation::append(Leaf& leaf) noexcept {
  leaf.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &leaf;
  last_ = &leaf;
  ++waiting_;
}

Leaf& Operation::take_first() noexcept {
  Leaf& leaf = *first_;
  first_ = leaf.next_;
  if (first_ == nullptr) last_ = nullptr;
  --waiting_;
  return leaf;
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
    Leaf& leaf = take_first();
    bool ready = true;
    try {
      ready = leaf.ready();
    } catch (...) {
      leaf.error_ = std::current_exception();
    }
    if (ready) {
      moved = true;
      leaf.task_.resume();
    } else {
      append(leaf);
    }
  }
  return moved;
}

void Operation::result() const { Task<>::result(task_.handle().promise()); }

void Operation::cancel(const std::exception_ptr& error) {
  cancelled_ = error;
  if (!started_) step();
  while (first_ != nullptr) {
    Leaf& leaf = take_first();
    leaf.abandon();
    leaf.error_ = error;
    leaf.task_.resume();
  }
}

}  // namespace chorus
