// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <cuda.h>

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

namespace chorus {

/// The calls that were put into streams of one device and may not be over. The device's context is the calling
/// thread's.
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
  /// It is there, and nothing after it. Does nothing where the stream is captured.
  void add(const Put& put);
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
  /// Those that were put before the oldest that is not over.
  void forget_oldest();

  std::deque<Entry> entries_;  // the oldest first
  std::vector<CUevent> free_;
};

}  // namespace chorus
