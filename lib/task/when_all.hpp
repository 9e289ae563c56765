// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <coroutine>
#include <exception>
#include <span>

namespace chorus {

/// Runs tasks side by side: awaiting it starts them all and goes on when the last has finished. Where one fails, all
/// that waits in the operation is cancelled with its exception, which is thrown at once: the others may wait for ranks
/// that wait for this one.
class [[nodiscard]] when_all {
 public:
  explicit when_all(std::span<Task<>> tasks) noexcept : tasks_(tasks) {}

  [[nodiscard]] bool await_ready() const noexcept { return tasks_.empty(); }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) {
    countdown_.running = tasks_.size() + 1;  // one for this function, so that no task resumes the parent from within it
    for (Task<>& task : tasks_) {
      if (countdown_.failed) {
        --countdown_.running;
        continue;
      }
      TaskPromise& promise = task.handle().promise();
      promise.operation = parent.promise().operation;
      promise.continuation = parent;
      promise.countdown = &countdown_;
      task.handle().resume();
    }
    return --countdown_.running > 0;
  }

  void await_resume() const {
    for (const Task<>& task : tasks_) Task<>::result(task.handle().promise());
  }

 private:
  std::span<Task<>> tasks_;
  Countdown countdown_;
};

}  // namespace chorus
