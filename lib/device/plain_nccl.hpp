// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <chorus/device_span.hpp>

#include <cstddef>
#include <string>

namespace chorus {

/// NCCL as a program uses it that does not know chorus, to be measured beside it: one communicator, which is its own.
/// Throws Error{not_built} where the library has been built without NCCL, Error{not_supported} where there is none, and
/// Error{transport} where it fails.
class PlainNccl {
 public:
  /// One rank makes it for the others: where they meet.
  [[nodiscard]] static std::string new_address();
  /// Of the calling thread's device, of which each rank has its own; waits until all ranks have called.
  PlainNccl(const std::string& address, int rank, int ranks);
  PlainNccl(const PlainNccl&) = delete;
  PlainNccl& operator=(const PlainNccl&) = delete;
  ~PlainNccl();

  /// Puts bcast, reduce, allreduce, allgather, reduce_scatter_block, alltoall, gather or scatter into `stream`, of
  /// which programs make the last three of a group of sends and receives. `in` and `out` differ; of a bcast `out` has
  /// the data.
  void queue(const Call& call, const std::byte* in, std::byte* out, Stream stream) const;

 private:
  struct Blocks;
  void exchange(const Call& call, const Blocks& in, const Blocks& out, void* stream) const;

  int rank_;
  int ranks_;
  void* comm_ = nullptr;
};

}  // namespace chorus
