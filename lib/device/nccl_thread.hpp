// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>

#include <cuda.h>
#include <nccl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace chorus {

/// Calls of NCCL's that wait for other ranks, on a thread of their own: whoever needs them hears of failures meanwhile.
///
/// Communicators that return at once (ncclConfig_t::blocking = 0) would need no thread here, but NCCL starts one for
/// each of their collectives.
class NcclThread {
 public:
  /// What the thread does; returns the communicator that it makes, or null. Throws what Nccl::check does. It has all
  /// that it needs, and may outlive who waits for it.
  using Work = std::function<ncclComm_t()>;

  /// A thread on its way to a call of NCCL's is there after it, as far as time tells. NCCL does not say where it is.
  static constexpr std::chrono::milliseconds time_to_enter{100};

  /// Throws Error{transport} where the system starts no thread.
  NcclThread(CUcontext context, Work work);
  /// Where the work is not over, the thread stays, and aborts what it makes.
  ~NcclThread();
  NcclThread(const NcclThread&) = delete;
  NcclThread& operator=(const NcclThread&) = delete;

  [[nodiscard]] bool is_over() const;
  /// Waits so long until the work is over; false where it is not.
  bool wait_for(std::chrono::milliseconds time) const;
  /// To be called before what the work uses is aborted, which it must not enter NCCL with after: work that has not
  /// begun never does, and other work is given `time_to_enter`.
  void let_enter() noexcept;
  /// What the work has made, once it is over. Throws the Error by which it has failed.
  [[nodiscard]] ncclComm_t take();

 private:
  struct State {
    std::mutex mutex;
    bool begun = false;
    bool over = false;
    bool given_up = false;
    ncclComm_t made = nullptr;
    std::optional<Error> failure;
  };
  static void call(State& state, CUcontext context, const Work& work) noexcept;

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

}  // namespace chorus
