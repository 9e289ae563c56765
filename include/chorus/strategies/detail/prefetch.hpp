// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/detail/stage.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace chorus::detail {

/// What `input` gives, in the same order, made by a thread that is up to `most` elements ahead. An exception comes to
/// the consumer where the element would have come, and again at each further call.
template <class T>
class PrefetchCursor final : public Cursor<T> {
 public:
  PrefetchCursor(std::unique_ptr<Cursor<T>> input, std::size_t most)
      : input_(std::move(input)), most_(most), thread_([this](const std::stop_token& stop) { fill(stop); }) {}

  std::optional<T> next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || ended_; });
    if (ready_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return std::nullopt;
    }
    std::optional<T> element(std::move(ready_.front()));
    ready_.pop_front();
    changed_.notify_all();
    return element;
  }

 private:
  void fill(const std::stop_token& stop) {
    std::exception_ptr failure;
    try {
      while (pass_one(stop)) {
      }
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  }
  bool pass_one(const std::stop_token& stop) {
    std::optional<T> element = input_->next();
    std::unique_lock lock(mutex_);
    const bool room = element && changed_.wait(lock, stop, [this] { return ready_.size() < most_; });
    if (!room || stop.stop_requested()) return false;
    ready_.push_back(std::move(*element));
    changed_.notify_all();
    return true;
  }

  std::unique_ptr<Cursor<T>> input_;
  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> ready_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // the last member: it is stopped and joined before what it uses is destroyed
};

template <class T>
class PrefetchStage final : public Stage<T> {
 public:
  PrefetchStage(StagePointer<T> input, std::size_t most) : input_(std::move(input)), most_(most) {}

  [[nodiscard]] std::unique_ptr<Cursor<T>> start(const Start& start) const override {
    return std::make_unique<PrefetchCursor<T>>(input_->start(start), most_);
  }
  [[nodiscard]] PipelineFacts facts() const override { return input_->facts(); }

 private:
  StagePointer<T> input_;
  std::size_t most_;
};

}  // namespace chorus::detail
