// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/operation.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

namespace chorus {

/// A nonblocking operation from its start until its request has been told.
class ParkedOperation {
 public:
  explicit ParkedOperation(Task<> task) noexcept : operation_(std::move(task)) {}
  [[nodiscard]] bool finished() const noexcept { return finished_.load(std::memory_order_acquire); }
  [[nodiscard]] const Operation& operation() const noexcept { return operation_; }

 private:
  friend class Engine;
  Operation operation_;
  std::atomic<bool> finished_{false};
};

/// The nonblocking operations of one communicator: they run one after another in the order of their calls, which is
/// the same on every rank, so none waits for a rank that waits for a later one.
struct OperationQueue {
  std::deque<ParkedOperation*> operations;
  std::uint64_t moves = 0;  ///< attempts in which any of them has moved; may be read while the engine is held
};

/// What has come of an attempt to make progress; another thread may be at it.
enum class Progress : std::uint8_t { none, some, of_another };

/// Drives parked operations: whoever is inside the library calls `progress`. Any thread may, one at a time does.
class Engine {
 public:
  /// That of the calling thread, made when it is first asked for: for what threads of one process do at the same time.
  [[nodiscard]] static std::shared_ptr<Engine> of_this_thread();

  /// Puts `parked` at the end of `queue`, and moves it as far as it goes without waiting where no thread waits for
  /// work: else that does it, and the caller computes meanwhile. It is not destroyed before it is finished.
  void park(OperationQueue& queue, ParkedOperation& parked);
  /// Polls the first operation of every queue, unless another thread does so.
  Progress progress();
  /// Makes progress here, and with what the calling thread has parked in its own engine. False where nothing is parked.
  bool progress_with_this_threads();
  /// Gives the first operation of `queue` `error`, and so all behind it.
  void cancel(OperationQueue& queue, const std::exception_ptr& error);
  [[nodiscard]] bool idle() const noexcept { return parked_.load(std::memory_order_acquire) == 0; }
  /// True where nothing is parked in `queue`: what its operations did is then done, whichever thread did it.
  [[nodiscard]] bool idle(const OperationQueue& queue) {
    if (idle()) return true;
    const std::scoped_lock lock(mutex_);
    return queue.operations.empty();
  }
  /// Something is parked and nobody attends to it.
  [[nodiscard]] bool has_work() const noexcept { return !idle() && attending_.load() == 0; }
  /// Returns when there is work; false once `stop` is asked for.
  [[nodiscard]] bool wait_for_work(const std::stop_token& stop);

  /// A thread that calls `progress` for as long as this lives: who waits for work need not.
  class Attendance {
   public:
    explicit Attendance(Engine& engine) noexcept : engine_(engine) { engine_.attending_.fetch_add(1); }
    Attendance(const Attendance&) = delete;
    Attendance& operator=(const Attendance&) = delete;
    ~Attendance() {
      engine_.attending_.fetch_sub(1);
      engine_.call_for_work();
    }

   private:
    Engine& engine_;
  };
  /// While it is held nothing that is parked moves.
  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }

 private:
  void finish_first(OperationQueue& queue);
  void tell_owners();
  /// Wakes who waits for work, where there is some.
  void call_for_work();

  std::mutex mutex_;
  std::vector<OperationQueue*> queues_;     // those that are not empty
  std::vector<ParkedOperation*> finished_;  // their owners, who may destroy operation and queue then, are told last
  std::atomic<int> parked_{0};
  std::atomic<int> attending_{0};
  std::condition_variable_any work_;
  std::atomic<bool> watched_{false};  // somebody waits for work, or has: a progress thread
};

}  // namespace chorus
