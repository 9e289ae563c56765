// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/arena.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

namespace chorus {

class Operation;

/// How many of several tasks are still running, for when_all.
struct Countdown {
  std::size_t running = 0;
  bool failed = false;  ///< one of them has

  /// One of them fails, the first: whatever waits in `operation` ends with its `error`.
  void end_others(Operation& operation, const std::exception_ptr& error);
};

/// What the promises of all tasks share.
struct TaskPromise {
  Operation* operation = nullptr;  ///< the running collective this task is a part of
  std::coroutine_handle<> continuation = std::noop_coroutine();
  Countdown* countdown = nullptr;  ///< where set, the continuation runs when it reaches zero
  std::exception_ptr error;

  static void* operator new(std::size_t bytes) { return frame_arena::allocate(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { frame_arena::release(frame, bytes); }

  struct Finish {
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    static std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> task) noexcept {
      TaskPromise& promise = task.promise();
      Countdown* const countdown = promise.countdown;
      if (countdown == nullptr) return promise.continuation;
      if (promise.error && !countdown->failed) countdown->end_others(*promise.operation, promise.error);
      return --countdown->running > 0 ? std::noop_coroutine() : promise.continuation;
    }
    static void await_resume() noexcept {}
  };
  static std::suspend_always initial_suspend() noexcept { return {}; }
  static Finish final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }
};

/// A coroutine that starts when it is awaited and belongs to whoever holds it. An exception that leaves it is thrown
/// again where it is awaited. At the bottom are the PolledEvents that a collective really waits for (operation.hpp).
template <class T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : TaskPromise {
    std::optional<T> value;
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    void return_value(T result) { value.emplace(std::move(result)); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  struct Awaiter {
    Handle task;
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      task.promise().operation = parent.promise().operation;
      task.promise().continuation = parent;
      return task;
    }
    T await_resume() { return result(task.promise()); }
  };
  Awaiter operator co_await() && noexcept { return {handle_}; }

  [[nodiscard]] Handle handle() const noexcept { return handle_; }
  /// The value of a finished task, or its exception.
  static T result(promise_type& promise) {
    if (promise.error) std::rethrow_exception(promise.error);
    if constexpr (requires { promise.value; }) return std::move(*promise.value);
  }

 private:
  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Handle handle_;
};

template <>
struct Task<void>::promise_type : TaskPromise {
  Task get_return_object() { return Task(Handle::from_promise(*this)); }
  static void return_void() noexcept {}
};

}  // namespace chorus
