// SPDX-License-Identifier: Apache-2.0
#include "task/engine.hpp"

namespace chorus {
namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local Engine* of_thread = nullptr;  // may be asked for to the end

struct ThreadsEngine {
  ThreadsEngine() { of_thread = engine.get(); }
  ThreadsEngine(const ThreadsEngine&) = delete;
  ThreadsEngine& operator=(const ThreadsEngine&) = delete;
  ~ThreadsEngine() { of_thread = nullptr; }
  std::shared_ptr<Engine> engine = std::make_shared<Engine>();
};

}  // namespace

std::shared_ptr<Engine> Engine::of_this_thread() {
  static thread_local const ThreadsEngine own;
  return own.engine;
}

void Engine::park(OperationQueue& queue, ParkedOperation& parked) {
  {
    const std::scoped_lock lock(mutex_);
    if (queue.operations.empty()) queues_.push_back(&queue);
    queue.operations.push_back(&parked);
    parked_.fetch_add(1, std::memory_order_release);
  }
  if (watched_.load(std::memory_order_relaxed)) {
    call_for_work();
  } else {
    progress();
  }
}

void Engine::call_for_work() {
  if (!watched_.load(std::memory_order_relaxed) || !has_work()) return;
  { const std::scoped_lock lock(mutex_); }  // it may have looked, and not sleep yet
  work_.notify_one();
}

bool Engine::wait_for_work(const std::stop_token& stop) {
  if (has_work()) return !stop.stop_requested();
  std::unique_lock lock(mutex_);
  watched_.store(true, std::memory_order_relaxed);
  return work_.wait(lock, stop, [this] { return has_work(); });
}

void Engine::finish_first(OperationQueue& queue) {
  finished_.push_back(queue.operations.front());
  queue.operations.pop_front();
  parked_.fetch_sub(1, std::memory_order_release);
}

void Engine::tell_owners() {
  std::erase_if(queues_, [](const OperationQueue* queue) { return queue->operations.empty(); });
  for (ParkedOperation* parked : finished_) parked->finished_.store(true, std::memory_order_release);
  finished_.clear();
}

Progress Engine::progress() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Progress::of_another;
  bool moved = false;
  for (OperationQueue* queue : queues_) {
    bool moved_here = false;
    while (!queue->operations.empty()) {
      Operation& first = queue->operations.front()->operation_;
      moved_here |= first.step();
      if (!first.done()) break;
      finish_first(*queue);
      moved_here = true;
    }
    if (moved_here) ++queue->moves;
    moved |= moved_here;
  }
  tell_owners();
  return moved ? Progress::some : Progress::none;
}

bool Engine::progress_with_this_threads() {
  bool any = false;
  for (Engine* const engine : {this, of_thread == this ? nullptr : of_thread}) {
    if (engine == nullptr || engine->idle()) continue;
    engine->progress();
    any = true;
  }
  return any;
}

void Engine::cancel(OperationQueue& queue, const std::exception_ptr& error) {
  const std::scoped_lock lock(mutex_);
  while (!queue.operations.empty()) {
    queue.operations.front()->operation_.cancel(error);
    finish_first(queue);
  }
  tell_owners();
}

}  // namespace chorus
