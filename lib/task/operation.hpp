// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <coroutine>
#include <cstddef>
#include <exception>
#include <string>

namespace chorus {

struct Bell;
class Operation;

/// Where in the source something waits: a default argument `Where where = Where::here()` gives the caller's place.
struct Where {
  const char* file = "";
  int line = 0;
  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

/// Something outside the program's control that a task waits for: a message, a flag in shared memory. It is polled.
class PolledEvent {
 public:
  explicit PolledEvent(Where where) noexcept : where_(where) {}
  PolledEvent(const PolledEvent&) = delete;
  PolledEvent& operator=(const PolledEvent&) = delete;
  virtual ~PolledEvent() = default;

  bool await_ready() { return poll(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> task) {
    return suspend(*task.promise().operation, task);
  }
  void await_resume() const {
    if (error_) std::rethrow_exception(error_);
  }

  /// What is waited for, in words.
  [[nodiscard]] virtual std::string what() const = 0;
  /// The same with the place in the source: for the reports of deadlocks and stalls.
  [[nodiscard]] std::string describe() const;
  /// Rings when `ready` may have become true; null where nothing rings.
  [[nodiscard]] virtual Bell* bell() noexcept { return nullptr; }

 protected:
  /// True once the task may go on. May throw: the task then gets the exception.
  virtual bool ready() = 0;
  /// Lets go of what was started; called where the operation is cancelled while this is waited for, and where `ready`
  /// throws.
  virtual void abandon() noexcept {}

 private:
  friend class Operation;
  bool suspend(Operation& operation, std::coroutine_handle<> task);
  bool poll() {
    try {
      return ready();
    } catch (...) {
      abandon();
      throw;
    }
  }

  Where where_;
  std::coroutine_handle<> task_;
  PolledEvent* next_ = nullptr;
  std::exception_ptr error_;
};

/// One running collective: its outermost task, and the events its tasks wait for. Driven by one thread at a time.
class Operation {
 public:
  explicit Operation(Task<> task) noexcept;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  /// Cancels what has not finished.
  ~Operation();

  /// Polls every event once and runs the tasks that may go on (the first time: starts). True if anything moved.
  bool step();
  [[nodiscard]] bool started() const noexcept { return started_; }
  [[nodiscard]] bool done() const noexcept { return task_.handle().done(); }
  /// Throws what the finished task threw.
  void result() const;
  /// Every task that waits gets `error` where it waits, and so does any that would wait later; the operation is done
  /// when this returns.
  void cancel(const std::exception_ptr& error);
  /// The event that has waited longest; null if none.
  [[nodiscard]] PolledEvent* waiting() const noexcept { return first_; }
  /// What rings for all that is waited for: that of the only event; null where there are several.
  [[nodiscard]] Bell* bell() const noexcept { return waiting_ == 1 ? first_->bell() : nullptr; }

 private:
  friend class PolledEvent;
  void append(PolledEvent& event) noexcept;
  PolledEvent& take_first() noexcept;

  Task<> task_;
  PolledEvent* first_ = nullptr;
  PolledEvent* last_ = nullptr;
  std::size_t waiting_ = 0;
  std::exception_ptr cancelled_;
  bool started_ = false;
};

}  // namespace chorus
