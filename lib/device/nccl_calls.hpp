// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "transport/native.hpp"

#include <cuda.h>
#include <nccl.h>

#include <cstdint>

namespace chorus {

struct Nccl;

/// The collectives, as calls of NCCL's on one of its communicators, whose device's context is the calling thread's.
class NcclCalls {
 public:
  /// Throws Error{transport} where NCCL fails.
  explicit NcclCalls(ncclComm_t comm);

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Puts `call` into `stream`. `factor`: as DeviceNative::queue. Throws Error{transport} where NCCL or CUDA fails.
  void put(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream) const;
  /// The same number for calls between the same ranks by the same algorithms of NCCL's: where one has been put, NCCL
  /// has connected what others like it need.
  [[nodiscard]] static std::uint64_t kind_of(const Call& call, const Native::Buffers& buffers) noexcept;

 private:
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
  int rank_ = 0;
  int ranks_ = 0;
};

}  // namespace chorus
