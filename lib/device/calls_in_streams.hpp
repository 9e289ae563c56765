// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <cuda.h>

#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace chorus {

/// The calls that were put into streams of one device and may not be over. The device's context is the calling
/// thread's. Several threads may call, and go on while the driver lets `add` wait.
class CallsInStreams {
 public:
  using Clock = std::chrono::steady_clock;

  CallsInStreams() = default;
  CallsInStreams(const CallsInStreams&) = delete;
  CallsInStreams& operator=(const CallsInStreams&) = delete;
  ~CallsInStreams() = default;

  /// A call that was put into a stream.
  struct Put {
    Call call;
    Clock::time_point since;
    std::chrono::nanoseconds limit;
    CUstream stream = nullptr;
  };
  /// It is there, and nothing after it. Does nothing where the stream is captured. Throws Error{transport} where CUDA
  /// fails.
  void add(const Put& put);
  /// True where none is under way.
  [[nodiscard]] bool are_over();
  /// The oldest of those that are not over and have been there for their limits by `now`.
  [[nodiscard]] std::optional<Put> late(Clock::time_point now);

  /// To be called last: gives back what was made for them.
  void forget() noexcept;

 private:
  struct Entry {
    Put put;
    CUevent over = nullptr;
  };
  static bool is_over(const Entry& entry) noexcept;
  [[nodiscard]] CUevent take_event();
  /// Those that were put before the oldest that is not over.
  void forget_oldest();

  std::mutex mutex_;           // of all that follows
  std::deque<Entry> entries_;  // the oldest first
  std::vector<CUevent> free_;
};

}  // namespace chorus
