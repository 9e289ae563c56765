// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/communicator_state.hpp"

namespace chorus::detail {

/// A nonblocking call: what a Request holds. Its task names the call in what it throws.
class PendingCall {
 public:
  PendingCall(std::shared_ptr<CommunicatorState> state, const Call& call, Task<> task,
              std::chrono::nanoseconds timeout);
  static void* operator new(std::size_t bytes) { return frame_arena::allocate(bytes); }
  static void operator delete(void* call, std::size_t bytes) noexcept { frame_arena::release(call, bytes); }
  PendingCall(const PendingCall&) = delete;
  PendingCall& operator=(const PendingCall&) = delete;
  /// Waits.
  ~PendingCall();

  /// Both throw what the call has thrown, as often as they are called.
  [[nodiscard]] bool test();
  void wait();
  /// False once either has told how it ended.
  [[nodiscard]] bool pending() const noexcept { return !told_; }
  /// Whose policy a wait for several calls follows.
  [[nodiscard]] Waiter& waiter() noexcept { return *state_; }

 private:
  void tell();

  std::shared_ptr<CommunicatorState> state_;
  Call call_;
  ParkedOperation parked_;
  Wait polls_;  // the tests so far
  std::chrono::nanoseconds timeout_;
  bool told_ = false;
};

}  // namespace chorus::detail
