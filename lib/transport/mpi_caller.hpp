// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/watch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace chorus {

/// Who makes calls of MPI that do not wait, from one thread at a time. Where it is watched, the process ends once MPI
/// does not come back: with the connection to a peer it may lose its way, and then nobody is left here to look at the
/// clock, so that no call can end with an error.
class MpiCaller final : public Watched {
 public:
  MpiCaller() = default;
  ~MpiCaller() override;

  /// From here on; `limit` is what a collective may take, 0: as long as it likes, unwatched. So it is also where the
  /// system starts no thread. No thread calls MPI by this meanwhile.
  void watch(std::chrono::nanoseconds limit) noexcept;
  void look(Clock::time_point now) noexcept override;

  /// One call, or some in a row, for as long as this lives; none inside another.
  class Call {
   public:
    explicit Call(MpiCaller& caller) noexcept : caller_(caller) {
      caller_.under_way_.store(++caller_.calls_, std::memory_order_relaxed);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() { caller_.under_way_.store(0, std::memory_order_relaxed); }

   private:
    MpiCaller& caller_;
  };

 private:
  std::uint64_t calls_ = 0;
  std::atomic<std::uint64_t> under_way_{0};  // the number of the call; 0 outside of MPI
  // The watch's:
  std::chrono::nanoseconds limit_{};  // 0: not watched
  int world_rank_ = 0;
  std::uint64_t seen_ = 0;           // under way when it last looked,
  std::chrono::nanoseconds stay_{};  // and for so long
  Clock::time_point looked_{};
};

}  // namespace chorus
