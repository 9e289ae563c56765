// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/options.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

namespace chorus::detail {

/// A nonblocking call: what a Request holds, and what a PersistentRequest starts again and again.
///
/// Where its algorithm has halves and nothing else is under way on the communicator, it gives when it is started and
/// takes when it is waited for, without a coroutine; of a single rank it is carried out when it is started. Else it is
/// parked: driven as a task.
class PendingCall final : private CommunicatorState::HalfDone {
 public:
  /// `owner` (may be null) is kept as long as the call.
  PendingCall(std::shared_ptr<CommunicatorState> state, const Arguments& arguments, const CollectiveOptions& options,
              std::shared_ptr<const void> owner);
  static void* operator new(std::size_t bytes) { return frame_arena::allocate(bytes); }
  static void operator delete(void* call, std::size_t bytes) noexcept { frame_arena::release(call, bytes); }
  /// Waits.
  ~PendingCall();

  /// Begins. Throws Error{invalid_argument} while it is pending.
  void start();
  /// Both throw what the call has thrown, as often as they are called; complete before the first start.
  [[nodiscard]] bool test();
  void wait();
  /// False before the first start, and once either has told how it ended.
  [[nodiscard]] bool pending() const noexcept { return stage_ != Stage::ended; }
  /// Whose policy a wait for several calls follows.
  [[nodiscard]] Waiter& waiter() noexcept { return *state_; }

 private:
  enum class Stage { ended, given, parked, done };

  void carry_out_alone();
  [[nodiscard]] bool give();
  void take();
  void put_off() override;
  /// The whole call, or what is left where it has given, as a task.
  Task<> whole();
  Task<> rest();
  void park(Task<> task);
  /// Ended as `result` says, which returns or throws.
  template <class Result>
  void tell(Result result);

  std::shared_ptr<CommunicatorState> state_;
  Arguments arguments_;
  CollectiveOptions options_;
  std::shared_ptr<const void> owner_;
  Stage stage_ = Stage::ended;
  const Halves* halves_ = nullptr;  // of the algorithm that is chosen, by the paces of that number
  std::uint32_t chosen_by_ = 0;
  Round round_ = 0;
  std::optional<ParkedOperation> parked_;
  std::optional<Wait> polls_;  // the tests so far
  std::exception_ptr error_;
};

}  // namespace chorus::detail
