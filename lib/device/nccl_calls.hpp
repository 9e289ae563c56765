// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "transport/native.hpp"

#include <cuda.h>
#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace chorus {

struct Nccl;

/// The collectives, as calls of NCCL's on one of its communicators, whose device's context is the calling thread's.
class NcclCalls {
 public:
  /// `is_aborted`: set before another thread aborts `comm`, which is not used after. Throws Error{transport} where NCCL
  /// fails.
  NcclCalls(ncclComm_t comm, std::shared_ptr<const std::atomic<bool>> is_aborted);

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Puts `call` into `stream`. `factor`: as DeviceNative::queue. Throws Error{transport} where NCCL or CUDA fails.
  void put(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream) const;
  /// The same number for calls of the same kind, between the same ranks and of a like length: where one has been put,
  /// NCCL has as a rule connected what others like it need. It promises that nowhere.
  [[nodiscard]] static std::uint64_t kind_of(const Call& call, const Native::Buffers& buffers) noexcept;

 private:
  /// Throws where NCCL has been aborted: no call of NCCL's may follow.
  void stop_if_aborted() const;
  /// The same, and where NCCL has failed.
  void check(ncclResult_t result) const;
  /// Sends the sections of `in` and receives those of `out`, all at a time.
  void exchange(const Call& call, const Native::Buffers& buffers, CUstream stream) const;
  /// To each rank its section, whose lengths may differ.
  void reduce_sections(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream) const;
  void reduce_scatter_blocks(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream) const;
  /// The collectives that join numbers, by `op`.
  void reduce(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream) const;
  void reduce_multiplied(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream) const;
  void move(const Call& call, const Native::Buffers& buffers, CUstream stream) const;
  /// Calls `parts(note)`, whose calls of NCCL are carried out as one: it gives `note` what each of them returns.
  template <class Parts>
  void in_one(const Parts& parts) const;

  const Nccl* nccl_;
  ncclComm_t comm_;
  std::shared_ptr<const std::atomic<bool>> is_aborted_;
  int rank_ = 0;
  int ranks_ = 0;
};

}  // namespace chorus
