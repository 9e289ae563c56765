// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <span>

namespace chorus {

/// A communicator of MPI for some ranks of another one.
///
/// MPI knows some thousands at a time. One that has ended is freed before the next is made: an object may end on any
/// thread and after MPI has, but where one is made MPI may be called.
class PrivateComm {
 public:
  /// Called by `ranks` of `parent`, whose order it has; `tag` tells it from others that are made of `parent` meanwhile.
  /// Throws   Error{transport} where MPI can make no more.
  PrivateComm(MPI_Comm parent, std::span<const int> ranks, int tag);
  PrivateComm(const PrivateComm&) = delete;
  PrivateComm& operator=(const PrivateComm&) = delete;
  ~PrivateComm();

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  /// A call was left unfinished in it: MPI_Finalize frees it.
  void abandon() noexcept { comm_ = MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace chorus
