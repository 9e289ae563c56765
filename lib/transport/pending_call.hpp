// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/communicator_state.hpp"

namespace chorus::detail {

/// A nonblocking call: what a Request holds.
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

  [[nodiscard]] bool test();
  void wait();
  /// Whom a wait for several calls asks what to do meanwhile.
  [[nodiscard]] Waiter& waiter() noexcept { return *state_; }

 private:
  void finish();

  std::shared_ptr<CommunicatorState> state_;
  Call call_;
  ParkedOperation parked_;
  std::chrono::nanoseconds timeout_;
  bool told_ = false;
};

}  // namespace chorus::detail
